import pytest

from core.train.__main__ import main
from core.train.start import bench
from core.train.start.bench import Turn
from core.train.start.timing import TimingError

# As small as a clone of nanoGPT can be: a bigram model behind the names that the loop uses.
CLONE = """
from dataclasses import dataclass
import torch

@dataclass
class GPTConfig:
    block_size: int
    vocab_size: int
    n_layer: int
    n_head: int
    n_embd: int
    dropout: float
    bias: bool

class GPT(torch.nn.Module):
    def __init__(self, config):
        super().__init__()
        self.table = torch.nn.Embedding(config.vocab_size, config.vocab_size)
        print("number of parameters: 0.00M")

    def configure_optimizers(self, weight_decay, learning_rate, betas, device_type):
        return torch.optim.AdamW(self.parameters(), learning_rate, betas)

    def forward(self, ids, targets):
        logits = self.table(ids)
        return logits, torch.nn.functional.cross_entropy(logits.flatten(0, 1), targets.flatten())
"""


def made_turns(monkeypatch):
    turns = {
        "nanoGPT, fp32": [Turn(seconds=0.06, cpu_seconds=0.06)] * 3,
        "ours, auto (bf16)": [Turn(seconds=s, cpu_seconds=0.03) for s in (0.03, 0.04, 0.05)],
    }
    monkeypatch.setattr(bench, "measure", lambda *_arguments: turns)


def test_the_table_shows_medians_spread_and_ratios_pair_by_pair(monkeypatch):
    made_turns(monkeypatch)
    _head, peer, ours, ratio = bench.bench_lines(None, 3)
    assert peer.split()[-4:] == ["60.00", "60.00", "60.00", "12,800"]
    assert ours.split()[-4:] == ["40.00", "30.00", "50.00", "19,200"]
    assert ratio.startswith("ours, auto against nanoGPT, fp32")
    assert "1.50x   1.20x   2.00x  (3 pairs; CPU time 2.00x)" in ratio


def test_a_folder_without_a_model_is_refused(tmp_path, capsys):
    assert main(["bench", "--peer", str(tmp_path)]) == 2
    assert "holds no model.py" in capsys.readouterr().err


@pytest.mark.slow
def test_a_clone_is_trained_beside_us_in_a_process_of_its_own(tmp_path, monkeypatch):
    (tmp_path / "model.py").write_text(CLONE, encoding="utf-8")
    monkeypatch.setattr(bench, "STEPS_A_TURN", 1)
    turns = bench.measure(tmp_path, 3)
    peer, fp32, auto = turns
    assert (peer, fp32) == ("nanoGPT, fp32", "ours, fp32")
    assert auto.startswith("ours, auto (")
    assert all(len(done) == 3 for done in turns.values())


@pytest.mark.slow
def test_a_clone_that_cannot_be_trained_says_why(tmp_path):
    (tmp_path / "model.py").write_text("raise RuntimeError('no such thing')", encoding="utf-8")
    with pytest.raises(TimingError, match="The benchmark failed: RuntimeError: no such thing"):
        bench.measure(tmp_path, 3)
