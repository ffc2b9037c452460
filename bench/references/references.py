"""Virtual chunks: requests, time and memory of reads through references and Icechunk repositories, beside fsspec and icechunk.

  python3 references.py [--quick]      (needs: pip install zarr icechunk fsspec aiohttp fastparquet kerchunk, and this package)

An array of N chunks of float32 lies in one file. Four stores refer to it: a repository of Icechunk of each specification, and
references of kerchunk in JSON and in Parquet. Every read runs in a process of its own, the contenders in turn, and says its
wall time, its CPU time without imports, and the peak of its memory; the best of three rounds is printed. Over HTTP a server on
loopback answers after 20 ms and counts the requests. Every contender must read the right sum."""

import argparse
import http.server
import json
import pathlib
import subprocess
import sys
import tempfile
import threading
import time

#: Elements of a chunk in the tables of time, and in that of requests.
SMALL, PAGE = 64, 1024

DELAY = 0.02


def make(folder, count, elements, place):
    """Makes the data of an array and the stores that refer to it. `place` is the URL of the folder with the data."""
    import icechunk
    import numpy as np
    import zarr

    folder.mkdir(parents=True)
    (folder / "data").mkdir()
    np.arange(count * elements, dtype="<f4").tofile(folder / "data/all.bin")
    size, url = 4 * elements, f"{place}/all.bin"
    array = {"shape": (count * elements,), "chunks": (elements,), "dtype": "f4", "fill_value": 0, "compressors": None}

    plain = folder / "plain"
    zarr.create_array(str(plain), name="a", zarr_format=2, filters=None, **array)
    documents = {f"a/{name}": json.loads((plain / "a" / name).read_text()) for name in (".zarray", ".zattrs")}
    documents[".zgroup"] = {"zarr_format": 2}
    refs = {key: json.dumps(value) for key, value in documents.items()}
    refs |= {f"a/{n}": [url, n * size, size] for n in range(count)}
    (folder / "refs.json").write_text(json.dumps({"version": 1, "refs": refs}))

    import fsspec.implementations.reference as reference

    records = reference.LazyReferenceMapper.create(str(folder / "refs.parq"), record_size=100_000)
    for key, value in refs.items():
        records[key] = value.encode() if isinstance(value, str) else value
    records.flush()

    for version in (1, 2):
        config = icechunk.RepositoryConfig.default()
        is_web = place.startswith("http")
        container = icechunk.http_store() if is_web else icechunk.local_filesystem_store(place.removeprefix("file://"))
        config.set_virtual_chunk_container(icechunk.VirtualChunkContainer(f"{place}/", container))
        storage = icechunk.local_filesystem_storage(str(folder / f"ice{version}"))
        repository = icechunk.Repository.create(storage, config, spec_version=version)
        session = repository.writable_session("main")
        zarr.create_array(session.store, name="a", zarr_format=3, **array)
        specs = [icechunk.VirtualChunkSpec([n], url, n * size, size) for n in range(count)]
        session.store.set_virtual_refs("a", specs, validate_containers=False)
        session.commit("all chunks")


def opened(contender, kind, root, place):
    """Opens the array of a store with a contender."""
    if contender == "zarr_rs":
        import zarr_rs

        name = {"json": "refs.json|kerchunk:", "parquet": "refs.parq|kerchunk:"}.get(kind, f"ice{kind[-1]}|icechunk:")
        return zarr_rs.open_array(f"{root}/{name}", "a", references=f"{place}/")
    import zarr

    if kind.startswith("icechunk"):
        import icechunk

        access = icechunk.credentials.HttpAccess if place.startswith("http") else icechunk.credentials.LocalFileSystemAccess
        name = f"{root}/ice{kind[-1]}"
        storage = icechunk.http_storage(name) if root.startswith("http") else icechunk.local_filesystem_storage(name)
        repository = icechunk.Repository.open(storage, authorize_virtual_chunk_access={f"{place}/": access})
        return zarr.open_array(repository.readonly_session("main").store, path="a", mode="r")
    import fsspec

    options = {"asynchronous": True, "remote_options": {"asynchronous": True}} if place.startswith("http") else {}
    options |= {"remote_protocol": place.partition("://")[0], "fo": f"{root}/refs.{'json' if kind == 'json' else 'parq'}"}
    if root.startswith("http"):
        options["target_protocol"] = "http"
    store = zarr.storage.FsspecStore(fsspec.filesystem("reference", **options), read_only=True, path="")
    return zarr.open_array(store, path="a", mode="r", zarr_format=2)


def work(contender, kind, root, place, start, end):
    """Opens an array, and reads a part of it. Prints what that took."""
    for module in ("zarr_rs",) if contender == "zarr_rs" else ("zarr", "fsspec", "icechunk", "aiohttp", "fastparquet"):
        __import__(module)
    wall, cpu = time.perf_counter(), time.process_time()
    values = opened(contender, kind, root, place)[start:end]
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    status = pathlib.Path("/proc/self/status").read_text()
    memory = int(status.partition("VmHWM:")[2].split()[0]) / 1024
    print(json.dumps({"wall": wall, "cpu": cpu, "memory": memory, "sum": float(values.astype("f8").sum())}))


class Server(http.server.ThreadingHTTPServer):
    """Files of a folder, each answer after a while. Counts requests."""

    daemon_threads = True
    request_queue_size = 1024

    def __init__(self, folder):
        super().__init__(("127.0.0.1", 0), Handler)
        self.folder, self.count, self.lock = folder, 0, threading.Lock()
        threading.Thread(target=self.serve_forever, daemon=True).start()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_HEAD(self):
        self.do_GET()

    def do_GET(self):
        with self.server.lock:
            self.server.count += 1
        time.sleep(DELAY)
        path = self.server.folder / self.path.partition("?")[0].lstrip("/")
        if not path.is_file():
            self.send_response(404)
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        size = path.stat().st_size
        first, last, status = 0, size - 1, 200
        wanted = self.headers.get("Range", "")
        if wanted.startswith("bytes="):
            low, _, high = wanted.removeprefix("bytes=").partition("-")
            first, last = (int(low), min(int(high or size), size - 1)) if low else (max(size - int(high), 0), size - 1)
            status = 206
        self.send_response(status)
        self.send_header("Content-Length", str(last - first + 1))
        self.send_header("Accept-Ranges", "bytes")
        if status == 206:
            self.send_header("Content-Range", f"bytes {first}-{last}/{size}")
        self.end_headers()
        if self.command == "GET":
            with open(path, "rb") as file:
                file.seek(first)
                self.wfile.write(file.read(last - first + 1))


def run(contender, kind, root, place, start, end, server=None):
    """Runs a read in a process of its own."""
    before = server.count if server else 0
    arguments = [contender, kind, root, place, str(start), str(end)]
    done = subprocess.run([sys.executable, __file__, "--work", *arguments], capture_output=True, text=True, timeout=600)
    if done.returncode:
        return {"error": done.stderr.strip().splitlines()[-1][:100]}
    found = json.loads(done.stdout.splitlines()[-1])
    expected = (end - start) * (start + end - 1) / 2
    if abs(found["sum"] - expected) > 1e-6 * expected:
        return {"error": f"the sum is {found['sum']}, not {expected}"}
    return found | {"requests": server.count - before if server else 0}


KINDS = {"icechunk 2": "icechunk", "icechunk 1": "icechunk", "json": "fsspec", "parquet": "fsspec"}


def table(title, cases, rounds):
    """Prints a row for each case: a label, and the arguments of `run` for a kind."""
    print(f"\n{title}\n\n| | | requests | wall, ms | CPU, ms | memory, MiB |\n|---|---|--:|--:|--:|--:|")
    for label, kinds, arguments in cases:
        for kind in kinds:
            contenders = [("zarr_rs", "ours"), (KINDS[kind], KINDS[kind])]
            runs = {name: [] for _, name in contenders}
            for _ in range(rounds):
                for contender, name in contenders:
                    runs[name].append(run(contender, kind, *arguments))
            for name, found in runs.items():
                right = [one for one in found if "error" not in one]
                if not right:
                    print(f"| {label}, {kind} | {name} | {found[0]['error']} | | | |", flush=True)
                    continue
                best = {field: min(one[field] for one in right) for field in ("requests", "wall", "cpu", "memory")}
                print(
                    f"| {label}, {kind} | {name} | {best['requests'] or ''} | {best['wall'] * 1e3:.1f} "
                    f"| {best['cpu'] * 1e3:.1f} | {best['memory']:.0f} |",
                    flush=True,
                )


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer references")
    parser.add_argument("--work", nargs=6, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.work:
        contender, kind, root, place, start, end = given.work
        work(contender, kind, root, place, int(start), int(end))
        return
    many, most = (2_000, 10_000) if given.quick else (100_000, 1_000_000)
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        server = Server(folder)
        url = f"http://127.0.0.1:{server.server_port}"
        make(folder / "web", 10_000, PAGE, f"{url}/web/data")

        def web(chunks):
            return f"{url}/web", f"{url}/web/data", 0, chunks * PAGE, server

        table(
            "Over HTTP, 20 ms",
            [(f"open, {n} chunks of 4 KiB", KINDS, web(n)) for n in (1, 35)]
            + [("open, 10,000 chunks of 4 KiB", ["icechunk 2", "json"], web(10_000))],
            1,
        )
        for count in (many, most):
            make(folder / str(count), count, SMALL, f"file://{folder}/{count}/data")
            place = f"{folder}/{count}", f"file://{folder}/{count}/data", 0
            cases = [(f"open, {n} of {count:,} chunks", KINDS, (*place, n * SMALL)) for n in (1, 10)]
            if count == many:
                kinds = ["icechunk 2", "json", "parquet"]
                cases.append((f"read all of {count:,} chunks", kinds, (*place, count * SMALL)))
            table(f"Local, {count:,} chunks of {4 * SMALL} bytes in one file", cases, 3 if count == most else 2)


main()
