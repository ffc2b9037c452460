"""A window that moves through an array, and 4,096 crops of it: one by one, from caches of decoded chunks, and in a batch.

  python3 windows.py STORE NAME=PROGRAM…      (needs: pip install numpy tensorstore)

STORE is an array of 512 x 512 x 512 uint16. Each program is run as `PROGRAM TASK STORE`, reads boxes from standard input, each as
a line `Z Y X SIZE`, and prints seconds and the sum of all elements, or nothing if it cannot do the task. TensorStore runs here, in a process of its own. From the root of the project

  cargo build --release --locked -p bench-contender --bin windows
  cargo build --release --locked --manifest-path bench/windows/zarrs/Cargo.toml

make target/release/windows and bench/windows/zarrs/target/release/windows-with-zarrs. Every contender takes its turn in each
of five rounds; the best seconds are printed, without those of opening the array. "unchecked" caches do not ask whether an object
has changed."""
import subprocess
import sys
import time

ROUNDS = 5
TASKS = ("window", "window cached", "window cached unchecked", "crops", "crops batched")


def windows():
    at = [448 - abs(4 * n % 896 - 448) for n in range(300)]
    return [(at[n], at[n // 2], at[n // 4], 64) for n in range(300)]


def crops():
    at = [n * 2_654_435_761 % 65_521 % 480 for n in range(3 * 4096)]
    return [(*at[3 * n : 3 * n + 3], 32) for n in range(4096)]


def with_tensorstore(task, store):
    import tensorstore

    context = tensorstore.Context({"cache_pool": {"total_bytes_limit": 512 << 20 if "cached" in task else 0}})
    spec = {"driver": "zarr3", "kvstore": {"driver": "file", "path": store}}
    if "unchecked" in task:
        spec["recheck_cached_data"] = False
    array = tensorstore.open(spec, read=True, context=context).result()
    boxes = [tuple(map(int, line.split())) for line in sys.stdin]
    parts = [array[tuple(slice(start, start + size) for start in at)] for *at, size in boxes]
    start = time.perf_counter()
    if task == "crops batched":
        with tensorstore.Batch() as batch:
            futures = [part.read(batch=batch) for part in parts]
        total = sum(int(future.result().sum(dtype="u8")) for future in futures)
    else:
        total = sum(int(part.read().result().sum(dtype="u8")) for part in parts)
    print(time.perf_counter() - start, total)


def main(store, programs):
    commands = dict(program.split("=", 1) for program in programs)
    commands = {name: [program] for name, program in commands.items()}
    commands["tensorstore"] = [sys.executable, __file__, "--tensorstore"]
    for task in TASKS:
        lines = "".join("{} {} {} {}\n".format(*box) for box in (windows() if "window" in task else crops()))
        best, sums = {}, set()
        for _ in range(ROUNDS):
            for name, command in commands.items():
                run = subprocess.run([*command, task, store], input=lines, check=True, capture_output=True, text=True)
                out = run.stdout
                if out:
                    seconds, total = out.split()
                    sums.add(int(total))
                    best[name] = min(best.get(name, float(seconds)), float(seconds))
        assert len(sums) == 1, sums
        for name, seconds in sorted(best.items(), key=lambda item: item[1]):
            print(f"{task:>24} {name:>14} {seconds * 1e3:9.1f} ms", flush=True)


if sys.argv[1] == "--tensorstore":
    with_tensorstore(*sys.argv[2:])
else:
    main(sys.argv[1], sys.argv[2:])
