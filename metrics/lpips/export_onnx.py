#!/usr/bin/env python3
"""Exports torchmetrics' LPIPS network to an ONNX file that OpenCV's DNN module computes correctly, at any picture size.

    pip install torch torchvision torchmetrics onnx
    python3 metrics/lpips/export_onnx.py --net alex lpips_alex.onnx
    ./bitproof frames A B --max-lpips 0.05 --lpips-model lpips_alex.onnx --lpips-range=-1..1 --lpips-layout nchw-rgb

The importer of OpenCV 4.6 rejects or miscomputes three things that PyTorch writes for this network: sums over channels,
operations that broadcast over channels, and means over pictures of a size unknown at export. They are written as 1x1
convolutions with ones and as global average pooling, which are the same functions. `bitproof frames` checks a network
for none of this, so test an export against PyTorch before trusting its numbers, as fixtures/lpips/generate.py does.
"""

import argparse
import contextlib

import torch
import torchmetrics.functional.image.lpips as lpips


def normalize_by_convolution(features, eps=1e-8):
    """Divides by the norm over channels: torchmetrics' _normalize_tensor without broadcasting."""
    ones = torch.ones(1, int(features.shape[1]), 1, 1, dtype=features.dtype)
    squares = torch.nn.functional.conv2d(features * features, ones)
    return features / torch.nn.functional.conv2d(torch.sqrt(eps + squares), ones.reshape(-1, 1, 1, 1))


def mean_by_pooling(features, keep_dim=True):
    del keep_dim
    return torch.nn.functional.adaptive_avg_pool2d(features, 1)


@contextlib.contextmanager
def written_for_opencv():
    originals = lpips._normalize_tensor, lpips._spatial_average
    lpips._normalize_tensor, lpips._spatial_average = normalize_by_convolution, mean_by_pooling
    try:
        yield
    finally:
        lpips._normalize_tensor, lpips._spatial_average = originals


def export(network, path):
    """Inputs in0 and in1 are 1x3xHxW, RGB, -1 to 1; the output is one number."""
    picture = torch.zeros(1, 3, 64, 64)
    size = {2: "height", 3: "width"}
    with written_for_opencv():
        torch.onnx.export(network, (picture, picture), path, input_names=["in0", "in1"], output_names=["distance"],
                          dynamic_axes={"in0": size, "in1": size}, opset_version=11, dynamo=False)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--net", choices=["alex", "vgg", "squeeze"], default="alex")
    parser.add_argument("output")
    arguments = parser.parse_args()
    export(lpips._LPIPS(pretrained=True, net=arguments.net, use_dropout=False).eval(), arguments.output)
