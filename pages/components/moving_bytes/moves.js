// The messages of a turn, and what ranks hold after some: core/budget/parallel/collectives.py, which
// has the same rules, says which turns there are.

const around = (number, length) => ((number % length) + length) % length;

function movesOf({ shift, offset, only }, numRanks, numChunks) {
  const sources = only === null ? [...Array(numRanks).keys()] : [only];
  return sources.map((source) => [source, around(source + shift, numRanks), around(source + offset, numChunks)]);
}

// `start` is "all", "own", or the one rank that has something at first.
function heldAtFirst(start, numRanks, numChunks) {
  const isThere = (rank, chunk) => start === "all" || (start === "own" ? rank === chunk : rank === start);
  return Array.from({ length: numRanks }, (_, rank) => Array.from({ length: numChunks }, (_, chunk) => Number(isThere(rank, chunk))));
}

function heldAfter({ start, turns, num_chunks }, numRanks, numTurns) {
  const held = heldAtFirst(start, numRanks, num_chunks);
  for (const turn of turns.slice(0, numTurns)) {
    const moves = movesOf(turn, numRanks, num_chunks);
    const parcels = moves.map(([source, , chunk]) => held[source][chunk]); // all leave at once
    for (const [at, [, target, chunk]] of moves.entries()) held[target][chunk] = (turn.adds ? held[target][chunk] : 0) + parcels[at];
  }
  return held;
}
