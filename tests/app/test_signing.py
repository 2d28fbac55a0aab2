"""Signed answers: what came is what is verified, and nothing else is."""

import json
import re
import signal
import subprocess
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

import macekit
from app.cli import main
from app.main import create_app
from app.settings import BadSettings, Settings, load
from app.signing import BadKey, Signature, Signer, Unverified, key_id, public_keys, verify
from macekit.reports.saved import recognise
from tests.app.client import TestClient
from tests.app.conftest import key_pair, pem
from tests.app.http.asked import post
from tests.app.running import Running, ready, until

Capture = pytest.CaptureFixture[str]
SIDES = {"members": list(range(30)), "nonmembers": list(range(20, 60))}


@pytest.fixture(scope="module")
def folder(audited: Running) -> Path:
    """Where the service's key is, and another one."""
    key_pair(audited.folder, "other")
    return audited.folder


FORMS = {"application/json": ".json", "text/html": ".html", "text/markdown": ".md", "text/csv": ".csv"}
Answers = dict[str, tuple[bytes, str]]


@pytest.fixture(scope="module")
def answers(audited: Running, folder: Path) -> Answers:
    """A report in each form, as it came, and its header."""
    results = {}
    for form, ending in FORMS.items():
        answer = post(audited, "/v1/report", SIDES, headers={"Accept": form})
        assert answer.status == 200, answer.body
        (folder / f"report{ending}").write_bytes(answer.body)
        results[form] = answer.body, answer.headers["mace-signature"]
    return results


@pytest.mark.parametrize("form", FORMS)
def test_an_answer_as_it_came_is_verified_and_with_any_byte_changed_refused(
    answers: Answers, folder: Path, form: str
) -> None:
    content, header = answers[form]
    public, rng = public_keys(folder / "key.pub"), np.random.default_rng(1)
    detached = header.encode() if form == "text/csv" else None

    assert verify(content, public, detached).as_json().decode() == header
    assert json.loads(header)["algorithm"] == "Ed25519"
    for at in rng.choice(len(content), 100):
        broken = bytearray(content)
        broken[at] ^= int(rng.integers(1, 256))
        with pytest.raises(Unverified):
            verify(bytes(broken), public, detached)
    for part in (content[:-1] if form == "text/csv" else content[: len(content) // 2], content + b" ", b""):
        with pytest.raises(Unverified):
            verify(part, public, detached)


def test_a_file_with_a_line_feed_more_at_its_end_is_the_same_json(answers: Answers, folder: Path) -> None:
    content, _ = answers["application/json"]

    verify(content + b"\n", public_keys(folder / "key.pub"))  # as `curl -w '\n'` and editors leave it


def test_what_another_key_or_another_answer_was_signed_with_is_refused(answers: Answers, folder: Path) -> None:
    with pytest.raises(Unverified, match=r"it was signed with the key \w+; the one given is"):
        verify(answers["text/html"][0], public_keys(folder / "other.pub"))
    with pytest.raises(Unverified, match="not byte for byte"):
        verify(answers["text/csv"][0], public_keys(folder / "key.pub"), answers["text/html"][1].encode())


@pytest.mark.slow
def test_a_signed_answer_is_still_an_answer(answers: Answers, folder: Path) -> None:
    document = json.loads(answers["application/json"][0])

    assert recognise(document) == "report"
    assert document["signature"] == json.loads(answers["application/json"][1])
    assert main(["report", str(folder / "report.json"), "-o", str(folder / "again.html"), "--overwrite"]) == 0


NOT_CHECKED, CHECKED = "Signature not checked", "Signature checked with the public key"


@pytest.fixture(scope="module")
def edited(audited: Running, folder: Path) -> Path:
    """A signed FAIL that was made a PASS, its numbers with it, and that still agrees with itself."""
    rng = np.random.default_rng(2)
    sides = {"members": rng.normal(2, 1, 100).tolist(), "nonmembers": rng.normal(0, 1, 100).tolist()}
    answer = post(audited, "/v1/gate", {**sides, "max_advantage": 0.1})
    (folder / "failed.json").write_bytes(answer.body)
    document = answer.json()
    assert document["decision"] == "fail"
    (limit,) = document["limits"]
    limit |= {"decision": "pass", "lower": 0.0, "estimate": 0.01, "upper": 0.05}
    document |= {"decision": "pass", "sentence": "Pass: every limit holds.", "covers": ["It covers everybody."]}
    (folder / "edited.json").write_text(json.dumps(document, separators=(",", ":")))
    return folder / "edited.json"


@pytest.mark.parametrize("output", [[], ["-o", "out.html"], ["-o", "out.md"], ["-o", "out.json"], ["--json"]], ids=str)
def test_an_edited_signed_answer_draws_no_report(
    edited: Path, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture, output: list[str]
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    (tmp_path / "edited.json").write_bytes(edited.read_bytes())  # a long path would be cut in the message

    status = main(["report", "edited.json", "--public-key", str(folder / "key.pub"), *output])

    printed = capsys.readouterr()
    assert (status, printed.out) == (2, "")
    assert printed.err.count("\n") == 1
    assert "edited.json: refused: it is not byte for byte what was signed" in printed.err
    assert list(tmp_path.iterdir()) == [tmp_path / "edited.json"]


@pytest.mark.parametrize(
    ("name", "key", "face", "mark"),
    [("edited", [], NOT_CHECKED, "PASS"), ("failed", ["--public-key", "{}/key.pub"], CHECKED, "FAIL")],
)
def test_a_report_of_a_signed_answer_says_at_its_top_whether_that_was_checked(
    edited: Path, folder: Path, capsys: Capture, name: str, key: list[str], face: str, mark: str
) -> None:
    asked = ["report", str(folder / f"{name}.json"), *(each.format(folder) for each in key)]

    for output in ("top.html", "top.md", "top.csv", "card.md"):
        options = ["--card"] if "card" in output else []
        assert main([*asked, "--force", *options, "-o", str(folder / output)]) == 0
        text = (folder / output).read_text()
        assert text.index(face) < text.index("0.95" if output.endswith("csv") else "Advantage, ")
        assert face in capsys.readouterr().err
    assert main(asked) == 0
    first, second, *_ = capsys.readouterr().out.splitlines()
    assert mark in first
    assert second.startswith(face)
    assert main([*asked, "--json"]) == 0
    assert face in capsys.readouterr().err


@pytest.mark.parametrize("parts", [1, 2])
def test_of_signed_counts_an_answer_says_that_their_signature_was_not_checked(
    audited: Running, tmp_path: Path, capsys: Capture, parts: int
) -> None:
    names = [str(tmp_path / f"counts{part}.json") for part in range(parts)]
    for name in names:
        document = post(audited, "/v1/counts", SIDES).json()
        document["counts"]["members"] = document["counts"]["members"][::-1]
        Path(name).write_text(json.dumps(document))

    main(["estimate", *names])
    main(["estimate", *names, "--json"])

    shown, answer = capsys.readouterr().out.split("\n{", 1)
    noted = "these counts carry a signature, which was not checked"
    assert shown.count(noted) == 1
    assert [each["code"] for each in json.loads("{" + answer)["warnings"]].count("signature_not_checked") == 1


def test_an_answer_that_carries_no_signature_has_nothing_said_of_one(
    edited: Path, tmp_path: Path, capsys: Capture
) -> None:
    document = json.loads(edited.read_bytes())
    del document["signature"]
    (tmp_path / "plain.json").write_text(json.dumps(document))

    assert main(["report", str(tmp_path / "plain.json")]) == 0
    assert "ignature" not in capsys.readouterr().out


def test_a_public_key_goes_with_a_kept_answer_and_has_to_be_one(
    edited: Path, folder: Path, tmp_path: Path, capsys: Capture
) -> None:
    (tmp_path / "scores.csv").write_text("score,member\n" + "\n".join(f"{k},{k % 2}" for k in range(40)))

    for file, key, why in (
        (tmp_path / "scores.csv", folder / "key.pub", "--public-key: goes with one kept answer"),
        (folder / "failed.json", edited, "--public-key: .*the file holds no Ed25519 public key"),
        (folder / "failed.json", folder / "none", "--public-key: .*cannot be read"),
        (folder / "failed.json", folder / "other.pub", "it was signed with the key"),
    ):
        assert main(["report", str(file), "--public-key", str(key)]) == 2
        assert re.search(why, capsys.readouterr().err)


def test_another_spelling_of_a_signature_is_refused(answers: Answers, folder: Path) -> None:
    content, header = answers["text/csv"]
    end = header.index("==")
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    same_bytes = letters[letters.index(header[end - 1]) ^ 1]

    for other in (header[: end - 1] + same_bytes + header[end:], header.replace(",", ", ", 1)):
        with pytest.raises(Unverified, match="not written as the service writes it"):
            verify(content, public_keys(folder / "key.pub"), other.encode())


def test_what_python_keeps_of_a_signed_answer_is_verified(audited: Running, folder: Path, tmp_path: Path) -> None:
    """The client wrote columns as they lie here over those that were sent, and such answers were refused."""
    rng = np.random.default_rng(0)
    names = [str(tmp_path / f"{day}.csv") for day in ("monday", "tuesday")]
    for name in names:
        rows = [f"{score},{member}" for member in (1, 0) for score in rng.normal(size=200)]
        Path(name).write_text("\n".join(["score,member", *rows]))
    server = macekit.Mace(f"http://127.0.0.1:{audited.port}")
    first = server.gate(names[0], max_advantage=0.5, anytime=True, planned=1000)
    second = server.gate(names[1], anytime=True, state=first.state)
    both = server.compare(dict(zip(("before", "after"), names, strict=True)), paired=False)
    overfit = server.theory.mis_overfitting({"loss": rng.exponential(size=300), "member": [1, 0] * 150}, score="loss")

    for answer in (first, second, both, overfit):
        verify(answer.to_json().encode(), public_keys(folder / "key.pub"))


def test_a_refusal_is_not_signed(audited: Running) -> None:
    answer = post(audited, "/v1/advantage", {})

    assert answer.status == 422
    assert "mace-signature" not in answer.headers
    assert "signature" not in answer.json()


def test_the_command_verifies_and_refuses(answers: Answers, folder: Path, capsys: Capture) -> None:
    key = ["--public-key", str(folder / "key.pub")]
    good = [str(folder / f"report{ending}") for ending in (".json", ".html", ".md")]
    forged = folder / "forged.json"
    forged.write_bytes(answers["application/json"][0].replace(b'"confidence":0.95', b'"confidence":0.99', 1))

    assert main(["verify", *good, *key]) == 0
    assert capsys.readouterr().out.count("signed with the key") == 3
    assert main(["verify", *good, str(forged), *key]) == 1
    assert "forged.json: REFUSED: it is not byte for byte what was signed" in capsys.readouterr().out
    assert main(["verify", str(folder / "report.csv"), *key]) == 1
    assert main(["verify", str(folder / "report.csv"), *key, "--signature", answers["text/csv"][1]]) == 0
    capsys.readouterr()
    for misuse in ([], good, [*good, *key, "--signature", "x"], [str(folder / "none"), *key]):
        assert main(["verify", *misuse]) == 2
        assert capsys.readouterr().err.startswith("mace: ")


def test_openssl_agrees(folder: Path, tmp_path: Path) -> None:
    """The signature is plain Ed25519 (RFC 8032) of the label, the time, the request's digest and the answer's."""
    signature = Signer.of_file(folder / "key.pem").signature(b"an answer", "digest")
    about = f"mace answer, signature 2\n{signature.time}\ndigest\n".encode()
    (tmp_path / "message").write_bytes(about + sha256(b"an answer").digest())
    (tmp_path / "signature").write_bytes(signature.value)

    command = ["openssl", "pkeyutl", "-verify", "-pubin", "-inkey", str(folder / "key.pub"), "-rawin"]
    files = ["-in", str(tmp_path / "message"), "-sigfile", str(tmp_path / "signature")]
    verified = subprocess.run([*command, *files], capture_output=True, text=True, check=False)

    assert "Signature Verified Successfully" in verified.stdout, verified.stderr


def test_a_signature_of_the_former_kind_still_holds(folder: Path) -> None:
    private = Ed25519PrivateKey.generate()
    value = private.sign(b"mace answer, signature 1\n" + sha256(b'{"kept":1}').digest())
    kept = b'{"kept":1,"signature":' + Signature(key_id(private.public_key()), value).as_json() + b"}"

    assert verify(kept, private.public_key()).time is None
    with pytest.raises(Unverified):
        verify(kept.replace(b"1", b"2", 1), private.public_key())


def test_a_signature_says_when_and_to_which_request_and_all_else_is_the_same_again(
    audited: Running, tmp_path: Path, capsys: Capture
) -> None:
    rows = "".join(f"{number},{number % 2}\n" for number in range(60))
    body, target = f"score,member\n{rows}".encode(), "/v1/advantage?prior=0.25"
    first, second = (audited.ask(target, "POST", body, {"Content-Type": "text/csv"}) for _ in range(2))
    (tmp_path / "answer.json").write_bytes(first.body)
    (tmp_path / "body.csv").write_bytes(body)
    address = f"http://127.0.0.1:{audited.port}"
    asked = ["verify", str(tmp_path / "answer.json"), "--public-key", address, "--request"]
    signatures = [each.json()["signature"] for each in (first, second)]
    answers = [each.body.partition(b',"signature":')[0] for each in (first, second)]

    assert answers[0] == answers[1]
    assert signatures[0]["request"] == sha256(target.encode() + b"\n" + body).hexdigest()
    assert main([*asked, str(tmp_path / "body.csv"), "--target", target]) == 0
    assert f"at {signatures[0]['time']}" in capsys.readouterr().out
    assert main([*asked, str(tmp_path / "body.csv"), "--target", "/v1/advantage"]) == 1
    assert main([*asked, str(tmp_path / "answer.json"), "--target", target]) == 1
    assert "it is the answer to another request" in capsys.readouterr().out
    for member in ("time", "request"):
        forged = first.body.replace(signatures[0][member].encode(), b"2" * len(signatures[0][member]))
        with pytest.raises(Unverified, match="not byte for byte"):
            verify(forged, public_keys(audited.folder / "key.pub"))


@pytest.mark.slow
def test_a_new_key_signs_without_a_restart_and_what_the_former_one_signed_still_holds(tmp_path: Path) -> None:
    files = [key_pair(tmp_path, name).read_bytes() for name in ("one", "two")]
    path = tmp_path / "keys.pem"
    path.write_bytes(files[0])
    rng = np.random.default_rng(4)
    batch = {side: rng.normal(size=60).tolist() for side in ("members", "nonmembers")}
    other = {side: rng.normal(size=60).tolist() for side in ("members", "nonmembers")}
    with ready(tmp_path, signing_key_file=str(path)) as service:

        def publish(content: bytes, number: int) -> bytes:
            path.write_bytes(content)
            service.process.send_signal(signal.SIGHUP)
            until(lambda: service.logged().count("signing key") >= number)
            return service.ask("/.well-known/jwks.json").body

        before = post(service, "/v1/gate", {**batch, "max_advantage": 0.1, "anytime": True})
        both = publish(files[1] + files[0], 1)
        after = post(service, "/v1/gate", {**other, "state": before.json()["state"], "anytime": True})
        without = publish(files[1] + (tmp_path / "one.pub").read_bytes(), 2)
        refused = publish(b"no key", 3)
        late = post(service, "/v1/gate", {**batch, "state": before.json()["state"], "anytime": True})
    (tmp_path / "jwks.json").write_bytes(both)

    assert after.status == 200, after.body  # the state was sealed by the former key
    assert late.status == 422  # which is not there any more
    assert both == without == refused
    for answer, name in ((before, "one"), (after, "two")):
        (public,) = public_keys(tmp_path / f"{name}.pub")
        assert verify(answer.body, public).key == key_id(public)
        assert verify(answer.body, public_keys(tmp_path / "jwks.json")).key == key_id(public)
    assert TestClient(create_app(Settings())).get("/.well-known/jwks.json").json() == {"keys": []}


def test_a_key_that_a_device_guards_signs_by_the_same_interface() -> None:
    private = Ed25519PrivateKey.generate()

    class Device:
        def public_key(self) -> Ed25519PublicKey:
            return private.public_key()

        def sign(self, data: bytes) -> bytes:
            return private.sign(data)

    signed, _ = Signer(Device()).sign(b'{"a":1}', "application/json", "digest")

    assert verify(bytes(signed), private.public_key()).request == "digest"
    assert Signer(Device()).derived_keys(b"one") == Signer(Device()).derived_keys(b"one")
    assert Signer(Device()).derived_keys(b"one") != Signer(Device()).derived_keys(b"two")


@pytest.mark.parametrize("question", ["estimate --prior 0.3", "gate --group g --max-group-risk 0.5", "risk"])
def test_a_filed_answer_is_computed_again_and_compared_number_by_number(
    tmp_path: Path, capsys: Capture, question: str
) -> None:
    scores, filed = tmp_path / "scores.csv", tmp_path / "answer.json"
    rng = np.random.default_rng(3)
    rows = [f"{value:.4f},{number % 2},{'ab'[number % 3 // 2]}" for number, value in enumerate(rng.normal(size=200))]
    scores.write_text("\n".join(["loss,was_in,g", *rows]))
    limits = [] if question == "risk" else ["--max-advantage", "0.4"]
    columns = ["--score", "loss", "--member", "was_in"]
    main([*question.split(), str(scores), *columns, *limits, "-o", str(filed)])
    content = filed.read_text()
    number = next(each for each in re.findall(r"0\.\d{6,}", content) if content.count(each) == 1)

    assert main(["verify", str(filed), "--recompute", str(scores)]) == 0
    assert "number by number" in capsys.readouterr().out
    filed.write_text(content.replace(number, "0.123456789"))
    assert main(["verify", str(filed), "--recompute", str(scores)]) == 1
    assert "REFUSED: " in (printed := capsys.readouterr().out)
    assert "filed 0.123456789, here " in printed
    filed.write_text(content)
    scores.write_text("\n".join(["loss,was_in,g", *rows[1:]]))
    assert main(["verify", str(filed), "--recompute", str(scores)]) == 1
    assert "provenance.input_sha256: filed" in capsys.readouterr().out
    filed.write_text("{}")
    assert main(["verify", str(filed), "--recompute", str(scores)]) == 2


@pytest.mark.parametrize("content", [b"", b"no key", pem(generate_private_key(SECP256R1()))])
def test_a_key_of_another_kind_is_refused_at_the_start(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "key.pem"
    path.write_bytes(content)

    with pytest.raises(BadKey, match="holds no Ed25519 key"):
        Signer.of_file(path)
    with pytest.raises(BadSettings, match="MACE_SIGNING_KEY_FILE: the file holds no Ed25519 key"):
        create_app(load(signing_key_file=path))
    with pytest.raises(BadKey, match="holds no Ed25519 public key"):
        public_keys(path)
