// Streamlit's slider (react-aria) tells its value only when a drag ends. While the button is held,
// the drag is ended for the reader whenever the last picture has come, and begun again at once.
// A drag is `moving` (the slider follows the pointer) or `told` (it was let go, the value is sent).
const SLIDER = '[data-testid="stSlider"]';
const BUSY = '[data-test-script-state]:not([data-test-script-state="notRunning"])';
const REST = 30; // milliseconds: begun again in the same task, React would still think it is dragged
const DEAF = 200; // milliseconds: on a busy page React may still think so after that rest
const TOO_LONG = 1000; // milliseconds: pictures that take longer come when the hand leaves
const BETWEEN = 0.02; // of a stop
const TAKES = 5; // how often one slider is taken up after the hand has left
const FORGOTTEN = 20_000; // milliseconds: a machine that was busy then may be free now
const late = new Map(); // sliders -> how many pictures in a row took longer, and when

// A page's slider draws another picture in each of its tabs.
function keyOf(slider) {
  const names = [...(slider.closest('[class*="st-key-"]')?.classList ?? [])];
  const tab = document.querySelector('.st-key-page_tabs [role="radio"][aria-checked="true"]');
  return [names.find((name) => name.startsWith("st-key-")), location.pathname, tab?.textContent].join();
}

const inputsOf = (slider) => [...slider.querySelectorAll('input[type="range"]')];
const valuesOf = (slider) => inputsOf(slider).map(({ value }) => value).join();

// The element that moves, and the one it moves along.
const thumbOf = (input) => input.parentElement.parentElement;
const trackOf = (input) => thumbOf(input).parentElement;

function middleOf(element) {
  const { left, width, top, height } = element.getBoundingClientRect();
  return { clientX: left + width / 2, clientY: top + height / 2 };
}

// Whether a place on the screen belongs to another stop than the one where the slider stands. Just
// between two stops either is right: which one, the slider rounds from the way that it was moved.
export function isElsewhere(clientX, { left, width }, { min, max, step, value }) {
  const [low, high, size] = [Number(min), Number(max), Number(step) || 1];
  const share = Math.min(Math.max((clientX - left) / width, 0), 1);
  const stops = Math.abs(share * (high - low) - (Number(value) - low)) / size;
  const pixel = (high - low) / size / width;
  return stops > 0.5 + Math.max(BETWEEN, pixel / 4);
}

export default function ({ parentElement }) {
  if (parentElement.following) return undefined;
  let drag = null;

  const send = (type, target, place) =>
    target.dispatchEvent(
      new PointerEvent(type, {
        ...{ bubbles: true, cancelable: true, composed: true, isPrimary: true, button: 0 },
        ...{ buttons: type === "pointerup" ? 0 : 1, pointerId: drag.pointerId, pointerType: drag.pointerType },
        ...place,
      }),
    );

  const input = () => {
    const inputs = inputsOf(drag.slider);
    return inputs[Math.min(drag.thumb ?? 0, inputs.length - 1)];
  };
  const wantsMore = () => isElsewhere(drag.place.clientX, trackOf(input()).getBoundingClientRect(), input());

  function tell() {
    const now = performance.now();
    Object.assign(drag, { state: "told", told: valuesOf(drag.slider), since: now, asked: now, wasBusy: false });
    send("pointerup", window, drag.place);
  }

  // From the very middle of the thumb: what it lies beside the pointer would be kept for ever.
  function takeUp() {
    Object.assign(drag, { state: "moving", taken: performance.now() });
    send("pointerdown", thumbOf(input()), middleOf(thumbOf(input())));
    send("pointermove", window, drag.place);
  }

  // The picture of what was told last has come when the page has been busy for it, and is no more.
  function awaitPicture() {
    const isBusy = Boolean(document.querySelector(BUSY));
    if (drag.asked && drag.wasBusy && !isBusy) {
      judge(keyOf(drag.slider), performance.now() - drag.asked);
      drag.asked = undefined;
    }
    drag.wasBusy = isBusy;
    return !isBusy;
  }

  // One late picture says little: the first of a tab may have to load what draws it.
  function judge(key, milliseconds) {
    if (milliseconds > TOO_LONG) late.set(key, { times: (late.get(key)?.times ?? 0) + 1, when: performance.now() });
    else late.delete(key);
  }

  function isSlow(key) {
    const { times, when } = late.get(key) ?? { times: 0 };
    return times > 1 && performance.now() - when < FORGOTTEN;
  }

  function look() {
    if (!drag) return;
    requestAnimationFrame(look);
    if (!drag.slider.isConnected || inputsOf(drag.slider).length === 0) drag = null; // it was drawn anew
    else lookAt(awaitPicture());
  }

  function lookAt(isReady) {
    if (drag.state === "told") lookTold();
    else if (isDeaf()) takeUpAgain();
    else if (drag.isOver) letGo();
    else if (valuesOf(drag.slider) !== drag.told && isReady && !isSlow(keyOf(drag.slider))) tell();
  }

  // Taken up, but the slider does not follow: it was still ending the drag before. Once more.
  function isDeaf() {
    const deaf = drag.taken && valuesOf(drag.slider) === drag.told && wantsMore();
    drag.deafSince = deaf ? (drag.deafSince ?? performance.now()) : undefined;
    return deaf;
  }

  function takeUpAgain() {
    if (performance.now() - drag.deafSince < DEAF) return;
    send("pointerup", window, drag.place);
    drag.deafSince = undefined;
    if (drag.isOver) settle();
    else Object.assign(drag, { state: "told", since: performance.now() });
  }

  function lookTold() {
    if (performance.now() - drag.since < REST) return;
    if (wantsMore()) takeUp();
    else if (drag.isOver) drag = null;
  }

  // The hand has left while the slider was told of: what it was taken up for again is told at rest.
  // On a busy page React draws the thumb later than that, and would tell where it was before.
  function letGo() {
    const held = performance.now() - drag.taken;
    if (held < REST || (wantsMore() && held < TOO_LONG)) return;
    send("pointerup", window, drag.place);
    settle();
  }

  // The drag has ended, and nothing moves any more. A thumb that was drawn late when it was taken up
  // lies beside its hand, and has to be taken up once more: `lookTold` sees whether.
  function settle() {
    drag.takes = (drag.takes ?? 0) + 1;
    if (drag.takes > TAKES) drag = null;
    else Object.assign(drag, { state: "told", isOver: true, told: valuesOf(drag.slider), since: performance.now() });
  }

  function begin(event) {
    const slider = event.isTrusted && event.button === 0 && event.target.closest?.(SLIDER);
    if (!slider || !event.target.closest('[role="group"]') || inputsOf(slider).some((one) => one.disabled)) return;
    const { pointerId, pointerType, clientX, clientY } = event;
    drag = { slider, pointerId, pointerType, place: { clientX, clientY }, state: "moving", told: valuesOf(slider) };
    // Which of two thumbs was taken is known when the slider has seen the press, too.
    setTimeout(() => drag && (drag.thumb = Math.max(inputsOf(slider).indexOf(document.activeElement), 0)));
    requestAnimationFrame(look);
  }

  function move(event) {
    if (drag && event.isTrusted && event.pointerId === drag.pointerId)
      drag.place = { clientX: event.clientX, clientY: event.clientY };
  }

  function end(event) {
    if (!drag || !event.isTrusted || event.pointerId !== drag.pointerId) return;
    move(event);
    if (drag.state === "told" || isDeaf()) drag.isOver = true;
    else if (drag.taken) settle();
    else drag = null;
  }

  const listeners = { pointerdown: begin, pointermove: move, pointerup: end, pointercancel: end };
  for (const [type, listener] of Object.entries(listeners)) document.addEventListener(type, listener, true);
  parentElement.following = true;
  return () => {
    for (const [type, listener] of Object.entries(listeners)) document.removeEventListener(type, listener, true);
    parentElement.following = false;
  };
}
