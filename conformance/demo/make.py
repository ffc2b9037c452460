#!/usr/bin/env python3
"""Makes weather.zarr, the store that README's first command reads.

Other implementations write the store, not this project: run it with xarray and zarr-python, e.g.
  python3 -m venv v && v/bin/pip install zarr==3.1.6 xarray==2026.9.0 && v/bin/python make.py
The numbers are invented (waves and noise in the shape of a temperature field), so there is nothing to license.
"""
import os
import shutil

import numpy as np
import xarray as xr

HERE = os.path.dirname(os.path.abspath(__file__))
OUT = os.path.join(HERE, "weather.zarr")

rng = np.random.default_rng(20)
lat = np.linspace(75.0, 25.0, 41)
lon = np.linspace(-40.0, 49.0, 90)
hours = np.arange(0, 24 * 3, 3)

sun = np.cos(2 * np.pi * (hours[:, None, None] / 24.0 + (lon[None, None, :] - 210.0) / 360.0))
waves = sum(
    a * np.sin(kx * np.radians(lon)[None, None, :] + ky * np.radians(lat)[None, :, None] + w * hours[:, None, None])
    for a, kx, ky, w in ((5.0, 3, 5, 0.05), (3.0, 7, 9, -0.03), (1.5, 15, 13, 0.11))
)
t2m = 303.0 - 0.65 * (lat[None, :, None] - 15.0) + 4.0 * sun + waves + rng.normal(0, 0.2, (hours.size, lat.size, lon.size))
t2m = np.round(t2m * 32) / 32
land = (np.sin(4 * np.radians(lon)[None, :]) + np.cos(5 * np.radians(lat)[:, None]) + 0.4 * rng.normal(0, 0.2, (lat.size, lon.size))) > 0

ds = xr.Dataset(
    {
        "t2m": (("time", "latitude", "longitude"), t2m.astype("f4"), {"units": "K", "long_name": "2 metre temperature", "standard_name": "air_temperature"}),
        "lsm": (("latitude", "longitude"), land, {"long_name": "land-sea mask"}),
    },
    coords={
        "time": ("time", np.datetime64("2026-01-01T00", "ns") + hours.astype("timedelta64[h]"), {"standard_name": "time"}),
        "latitude": ("latitude", lat, {"units": "degrees_north", "standard_name": "latitude"}),
        "longitude": ("longitude", lon, {"units": "degrees_east", "standard_name": "longitude"}),
    },
    attrs={"title": "A made-up weather, three days of it", "Conventions": "CF-1.10"},
)

shutil.rmtree(OUT, ignore_errors=True)
ds.to_zarr(OUT, zarr_format=3, consolidated=True, encoding={"t2m": {"chunks": (8, 41, 45)}})
