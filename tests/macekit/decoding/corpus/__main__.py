"""Make the corpus anew."""

from tests.macekit.decoding.corpus import FOLDER, bodies

for file in FOLDER.iterdir():
    file.unlink()
for name, body, *_ in bodies():
    (FOLDER / name).write_bytes(body)
