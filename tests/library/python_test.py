"""The Python package: doctests, structs, tasks against `lengthen sample`, a run's model, the store, and the PyTorch module against
the C engine. Run by ctest, with the environment LENGTHEN_LIBRARY (the shared library) and LENGTHEN_PROGRAM."""
import ctypes
import doctest
import importlib
import json
import os
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(ROOT, "python"))
sys.dont_write_bytecode = True

import numpy as np

import lengthen
from lengthen import Batches, Examples, Model, Run, Scheme, Task

try:
    import torch
    torch.set_num_threads(1)  # the tests run side by side
except ImportError:
    torch = None
needs_torch = unittest.skipUnless(torch, "PyTorch is not there (Debian: python3-torch)")
PROGRAM = os.environ["LENGTHEN_PROGRAM"]


def program(*words, code=0, **more):
    done = subprocess.run([PROGRAM, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **more)
    assert done.returncode == code, done.stderr
    return done.stdout


class Package(unittest.TestCase):
    def test_doctests(self):
        modules = ["lengthen", "lengthen.tasks", "lengthen.models"] + (["lengthen.torch"] if torch else [])
        for name in modules:
            result = doctest.testmod(importlib.import_module(name))
            self.assertEqual(result.failed, 0)
            self.assertGreater(result.attempted, 0)

    def test_structs_are_those_of_the_headers(self):
        made = subprocess.run([sys.executable, os.path.join(ROOT, "python", "make_structs.py")], capture_output=True,
                              text=True, check=True).stdout
        with open(os.path.join(ROOT, "python", "lengthen", "_structs.py")) as f:
            self.assertEqual(f.read(), made, "run python/make_structs.py > python/lengthen/_structs.py")
        from lengthen import _structs
        compared = 0
        with open(os.path.join(ROOT, "docs", "ABI.txt")) as f:
            for line in f:
                words = line.split()
                if words[0] == "struct" and hasattr(_structs, words[1]):
                    self.assertEqual(ctypes.sizeof(getattr(_structs, words[1])), int(words[2]), words[1])
                    compared += 1
        self.assertGreater(compared, 50)

    def test_version_is_that_of_the_header(self):
        with open(os.path.join(ROOT, "include", "lengthen.h")) as f:
            self.assertIn(f'#define LG_VERSION "{lengthen.__version__}"', f.read())

    def test_a_missing_library_is_answered_with_where_it_was_looked_for(self):
        environment = dict(os.environ, LENGTHEN_LIBRARY="/nowhere/liblengthen.so.0",
                           PYTHONPATH=os.path.join(ROOT, "python"))
        done = subprocess.run([sys.executable, "-c", "import lengthen"], env=environment, capture_output=True, text=True)
        self.assertEqual(done.returncode, 1)
        self.assertIn("/nowhere/liblengthen.so.0", done.stderr)

    def test_pip_installs_it_offline(self):
        with tempfile.TemporaryDirectory() as folder:
            venv = subprocess.run([sys.executable, "-m", "venv", "--system-site-packages", folder], capture_output=True,
                                  text=True)
            if venv.returncode:
                self.skipTest("python3 -m venv does not work here (Debian: python3-venv)")
            copy = os.path.join(folder, "source")  # pip may write beside what it installs
            subprocess.run(["cp", "-r", os.path.join(ROOT, "python"), copy], check=True)
            python = os.path.join(folder, "bin", "python3")
            subprocess.run([python, "-m", "pip", "install", "-q", "--no-index", "--disable-pip-version-check", copy],
                           check=True)
            done = subprocess.run([python, "-c", "import lengthen; print(lengthen.__file__, lengthen.__version__)"],
                                  cwd=folder, capture_output=True, text=True, check=True,
                                  env={k: v for k, v in os.environ.items() if k != "PYTHONPATH"})
            self.assertIn(folder, done.stdout)


class Tasks(unittest.TestCase):
    def test_examples_are_those_of_sample(self):
        for task, more in (("addition", []), ("variable-assignment", ["--sparsity", "2"]), ("copy", [])):
            lines = program("sample", task, "--length", "5", "--count", "4", "--seed", "3", "--json", *more).splitlines()
            t = Task(task)
            sparsity = (2, 2) if more else (0, 0)
            for i, line in enumerate(lines):
                x, told = Examples(t, lengths=(5, 5), sparsities=sparsity, seed=3, stream=0)[i], json.loads(line)
                words = told["tokens"].split() if isinstance(told["tokens"], str) else told["tokens"]
                self.assertEqual(t.text(x.tokens).split(), words)

    def test_batches_are_padded_at_the_end(self):
        b = Batches(Examples(Task("addition"), Scheme(source="delta", max_id=60), lengths=(1, 9), train=True), 16)[2]
        for i, x in enumerate(b.examples):
            n = len(x.tokens) - 1
            self.assertEqual(b.mask[i].sum(), n)
            self.assertTrue((b.tokens[i, :n] == x.tokens[:-1]).all() and (b.ids[i, :, :n] == x.ids[:, :-1]).all())
            self.assertTrue((b.targets[i, n:] == -1).all() and (b.id_targets[i, :, n:] == -1).all())
        starts = {int(x.ids[0].max()) - len(x.tokens) for x in b.examples}
        self.assertGreater(len(starts), 8)  # drawn
        again = Batches(Examples(Task("addition"), Scheme(source="delta", max_id=60), lengths=(1, 9), train=True), 16)[2]
        self.assertTrue((again.ids == b.ids).all())

    def test_what_cannot_be_raises(self):
        with self.assertRaisesRegex(lengthen.LengthenError, "did you mean"):
            Task("adition")
        with self.assertRaises(lengthen.LengthenError):
            Examples(Task("copy"), Scheme(ids="nothing"))
        with self.assertRaises(lengthen.LengthenError):
            Run("/nowhere")


CONFIG = """
task: {name: parity-scratchpad}
positions: {ids: coupled, source: delta, reach: 1, encoding: relative, span: window, window: [0, 1]}
model: {width: 32, heads: 2, layers: 2, sink: yes}
train: {steps: 300, lr: 4e-3, warmup: 20, batch: 32, length: [1, 8]}
eval: {lengths: [8, 40], samples: 20}
"""


class Runs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.home = tempfile.TemporaryDirectory()
        cls.folder, cls.store = os.path.join(cls.home.name, "run"), os.path.join(cls.home.name, "lab.db")
        config = os.path.join(cls.home.name, "parity.yaml")
        with open(config, "w") as f:
            f.write(CONFIG)
        program("train", config, "--out", cls.folder, "--store", cls.store)
        program("eval", cls.folder, "--store", cls.store)

    @classmethod
    def tearDownClass(cls):
        cls.home.cleanup()

    def test_a_run_answers_and_is_certified(self):
        with Run(self.folder) as run:
            self.assertEqual((run.step, run.task.name), (300, "parity-scratchpad"))
            answer = run.generate("1 0 1 1 0 1 1 1 1 1 1 1 =")
            self.assertEqual(answer.text, "1 1 0 1 1 0 1 0 1 0 1 0 $")
            self.assertEqual([t.ids for t in answer.tokens if t.generated], [[i] for i in range(2, 15)])
            self.assertTrue(answer.predicted)
            self.assertEqual(run.score(100, 10), 1.0)
            self.assertTrue(run.generate(length=30).exact)
            certificate = run.certify()
            self.assertEqual((certificate.certified, certificate.contexts, certificate.wrong), (True, 34, 0))
            self.assertTrue(certificate.json["certified"])

    def test_logits_give_the_generated_tokens(self):
        with Run(self.folder) as run:
            answer = run.generate(length=12)
            tokens = [t.token for t in answer.tokens]
            ids = np.array([[t.ids[0] for t in answer.tokens]])
            logits = run.model.logits(tokens, ids)
            first = sum(not t.generated for t in answer.tokens)
            self.assertEqual(logits[first - 1:-1].argmax(1).tolist(), tokens[first:])
            steps = run.model.id_logits(tokens, ids)[first - 1:-1].argmax(1) - 1
            self.assertEqual((ids[0, first - 1:-1] + steps).tolist(), ids[0, first:].tolist())

    def test_models_are_saved_and_loaded(self):
        file = os.path.join(self.home.name, "model.safetensors")
        with Run(self.folder) as run:
            run.model.save(file)
            same = Model.load(file)
            x = Examples(run.task, lengths=(9, 9))[0]
            self.assertTrue((run.model.logits(x.tokens, x.ids) == same.logits(x.tokens, x.ids)).all())

    def test_a_saved_model_has_every_field_of_its_config(self):
        from lengthen import _structs
        file = os.path.join(self.home.name, "fields.safetensors")
        Model.new(vocab=4, width=8, heads=1, layers=1).save(file)
        with open(file, "rb") as f:
            header = json.loads(f.read(int.from_bytes(f.read(8), "little")))
        saved = {key.split(".")[0] for key in header["__metadata__"]} - {"format"}
        self.assertEqual(saved, {name for name, _ in _structs.lg_model_config._fields_} - {"isa"})

    def test_the_store_is_a_table(self):
        runs, cells = lengthen.runs(self.store), lengthen.cells(self.store)
        self.assertEqual([(r["task"], r["state"], r["step"]) for r in runs], [("parity-scratchpad", "done", 300)])
        exact = [c for c in cells if c["kind"] == "exact" and c["length"] == 40 and c["predicted"]]
        self.assertEqual([(c["value"], c["samples"]) for c in exact], [(1.0, 20)])
        self.assertEqual(str(lengthen.cells(self.store, run=1)), str(cells))  # NaN is not NaN

    @needs_torch
    def test_a_run_in_pytorch_gives_the_same_logits(self):
        from lengthen.torch import CoupledTransformer
        with Run(self.folder) as run:
            module = CoupledTransformer.from_model(run.model)
            x = Examples(run.task, Scheme(source="delta"), lengths=(20, 20))[0]
            ours = module(torch.tensor(x.tokens[None]).long(), torch.tensor(x.ids[None]))[0][0].detach().numpy()
            theirs = run.model.logits(x.tokens, x.ids)
            self.assertLess(np.abs(ours - theirs).max(), 1e-4 * np.abs(theirs).max())
            tokens, ids = module.generate(x.tokens[:x.answer], x.ids[0, :x.answer], run.task.stop, 50)
            self.assertEqual((tokens, ids), (x.tokens.tolist(), x.ids[0].tolist()))


@needs_torch
class Torch(unittest.TestCase):
    """Window mask, relative bias, sink and delta head: logits and every gradient, against the C engine."""

    def compare(self, task, scheme, **config):
        from lengthen.tasks import collate
        from lengthen.torch import CoupledTransformer
        t = Task(task)
        examples = Examples(t, scheme, lengths=(2, 9), train=bool(scheme.max_id), seed=5)
        xs = [examples[i] for i in range(12)]
        m = Model.new(vocab=t.vocab, width=32, heads=4, layers=2, encoding="relative", span=1, levels=examples.levels, seed=7,
                      **config)
        random = np.random.default_rng(0)
        for name, p in m.parameters.items():
            if "bias" in name or "sink" in name:  # zeros at first, which would hide what they do
                p[:] = 0.3 * random.normal(size=p.shape)
        m.touch()
        module = CoupledTransformer.from_model(m)
        for x in xs[:4]:
            logits, id_logits = module(torch.tensor(x.tokens[None]).long(), torch.tensor(x.ids[None]))
            self.close(m.logits(x.tokens, x.ids), logits[0])
            for l, theirs in enumerate(id_logits):
                if theirs is not None:
                    self.close(m.id_logits(x.tokens, x.ids, l), theirs[0])
        loss, id_loss, gradients = m.gradients(xs, id_weight=0.7)
        ours, ours_id = module.losses(collate(xs))
        (ours + 0.7 * ours_id).backward()
        self.assertAlmostEqual(loss, ours.item(), 5)
        self.assertAlmostEqual(id_loss, float(ours_id), 5)
        for name, p in module._pairs().items():
            self.close(gradients[name], p.grad.reshape(gradients[name].shape))

    def close(self, a, b):
        self.assertLess(np.abs(a - b.detach().numpy()).max(), 2e-5 * np.abs(a).max() + 1e-9)

    def test_one_level_with_the_delta_head(self):
        self.compare("addition", Scheme(source="delta", max_id=50), window_lo=[-1], window_hi=[1], sink=1, id_classes=[3])

    def test_without_a_sink(self):
        self.compare("parity-scratchpad", Scheme(source="delta"), window_lo=[0], window_hi=[2], sink=0, id_classes=[3])

    def test_two_levels_with_absent_ids(self):
        self.compare("sparse-parity-scratchpad", Scheme(), window_lo=[-1, -2], window_hi=[1, 1], sink=1)

    def test_the_notebook_runs(self):
        with open(os.path.join(ROOT, "examples", "ppc_torch.ipynb")) as f:
            cells = json.load(f)["cells"]
        code = ["".join(c["source"]) for c in cells if c["cell_type"] == "code"]
        lines = [l for c in code for l in c.splitlines() if l.strip() and not l.strip().startswith("#")]
        self.assertLessEqual(len(lines), 40)
        names = {}
        for cell in code:
            exec(compile(cell, "ppc_torch.ipynb", "exec"), names)
        self.assertEqual(names["exact"], 5)  # of 5, ten times the training length
        self.assertTrue(names["certificate"].certified)


if __name__ == "__main__":
    unittest.main(verbosity=2)
