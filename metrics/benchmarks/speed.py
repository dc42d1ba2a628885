#!/usr/bin/env python3
"""Measures `bitproof frames` beside FFmpeg on the same files, both confined to one processor, in turns.

    python3 metrics/benchmarks/speed.py build/release/bin/bitproof-frames [--folder DIR] [--frames 240] [--repeats 7]

1. Two 1080p YUV4MPEG2 files: PSNR and SSIM of ours against FFmpeg's psnr filter alone.
2. Two 1080p H.264 files: PSNR and SSIM of ours against FFmpeg decoding both files and doing nothing with them.
3. Peak memory of ours on a file and on one four times as long.

Start-up is part of every time. The folder needs 2 GB; the files are read once before the clock starts, so that both
find them in the page cache. Prints medians, their spread and ratios.
"""

import argparse
import os
import pathlib
import statistics
import subprocess
import tempfile
import time


def confined(command):
    """Runs on one processor; returns wall seconds, processor seconds and peak memory in MiB."""
    processor = max(os.sched_getaffinity(0))
    begin = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                               preexec_fn=lambda: os.sched_setaffinity(0, {processor}))
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.monotonic() - begin
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise SystemExit(f"failed with {process.returncode}: {' '.join(command)}")
    return seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def side_by_side(title, commands, repeats):
    results = {name: [] for name in commands}
    for command in commands.values():
        confined(command)
    for _ in range(repeats):
        for name, command in commands.items():
            results[name].append(confined(command))
    print(title)
    medians = {}
    for name, runs in results.items():
        wall = [run[0] for run in runs]
        medians[name] = statistics.median(wall), statistics.median(run[1] for run in runs)
        print(f"  {name:<34} wall {medians[name][0]:.3f} s ({min(wall):.3f} to {max(wall):.3f}), "
              f"processor {medians[name][1]:.3f} s, peak {max(run[2] for run in runs):.0f} MiB")
    (ours_wall, ours_cpu), (theirs_wall, theirs_cpu) = medians.values()
    print(f"  ratio, ours to theirs: wall {ours_wall / theirs_wall:.3f}, processor {ours_cpu / theirs_cpu:.3f}")


def make(folder, frames):
    """Noise on one side only, so that no frame is identical. H.264 at a usual quality."""
    def ffmpeg(*arguments):
        subprocess.run(["ffmpeg", "-v", "error", "-y", *map(str, arguments)], check=True)

    source = ["-f", "lavfi", "-i", "testsrc2=size=1920x1080:rate=25", "-pix_fmt", "yuv420p"]
    for name, filters in {"a": "null", "b": "noise=alls=6:allf=t:all_seed=7"}.items():
        ffmpeg(*source, "-vf", filters, "-frames:v", frames, folder / f"{name}.y4m")
        ffmpeg("-i", folder / f"{name}.y4m", "-c:v", "libx264", "-preset", "veryfast", "-crf", "20",
               folder / f"{name}.mp4")
        ffmpeg("-i", folder / f"{name}.mp4", "-frames:v", frames // 4, "-c", "copy", folder / f"{name}_short.mp4")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("program")
    parser.add_argument("--folder", type=pathlib.Path)
    parser.add_argument("--frames", type=int, default=240)
    parser.add_argument("--repeats", type=int, default=7)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=arguments.folder) as name:
        folder = pathlib.Path(name)
        make(folder, arguments.frames)

        def ours(extension):
            return [arguments.program, "--threads", "1", "--identity", "pixel", str(folder / f"a{extension}"),
                    str(folder / f"b{extension}")]

        def theirs(extension, *rest):
            return ["ffmpeg", "-v", "error", "-nostats", "-filter_threads", "1", "-threads", "1", "-i",
                    str(folder / f"a{extension}"), "-threads", "1", "-i", str(folder / f"b{extension}"), *rest]

        print(f"{arguments.frames} frames of 1920x1080, medians of {arguments.repeats}, one processor")
        side_by_side("YUV4MPEG2", {"ours: PSNR and SSIM": ours(".y4m"),
                                   "ffmpeg: psnr": theirs(".y4m", "-lavfi", "psnr", "-f", "null", "-")},
                     arguments.repeats)
        side_by_side("H.264", {"ours: decoding, PSNR and SSIM": ours(".mp4"),
                               "ffmpeg: decoding both": theirs(".mp4", "-map", "0:v", "-map", "1:v", "-f", "null", "-")},
                     arguments.repeats)
        print("Peak memory of ours, H.264")
        for extension, frames in (("_short.mp4", arguments.frames // 4), (".mp4", arguments.frames)):
            print(f"  {frames:>4} frames: {confined(ours(extension))[2]:.0f} MiB")


if __name__ == "__main__":
    main()
