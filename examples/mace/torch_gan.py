"""JS-GAN and WGAN-GP by PyTorch's own gradients: the networks, losses, draws and optimiser of ``gan``.

    pip install torch
    OMP_NUM_THREADS=1 .venv/bin/python -m examples.mace.figure7 --torch       # figures 1, 2b, 3 and 7 train by it
    OMP_NUM_THREADS=1 .venv/bin/python -m examples.mace.torch_gan             # both ways side by side, a few steps

Weights begin as those of ``gan`` and are written back to it at the end, so that a figure notices nothing. Over the
first steps both ways give the same model; over thousands, rounding drives them apart as from machine to machine.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from examples.mace import gan as by_hand
from examples.mace.gan import Gan, Size
from examples.mace.network import SINGLE, SLOPE, Floats, Network
from examples.mace.study import FULL

try:
    import torch
    from torch.nn.functional import leaky_relu, softplus
except ModuleNotFoundError:
    raise SystemExit("training by PyTorch needs it: pip install torch") from None


class Layers:
    """A network of ``network`` as tensors that know their gradients."""

    def __init__(self, network: Network, rate: float) -> None:
        self.network = network
        self.parameters = [torch.tensor(each, requires_grad=True) for each in network.parameters]
        self.adam = torch.optim.Adam(self.parameters, lr=rate, betas=(0.5, 0.999))

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        """The last layer's answer."""
        half = len(self.parameters) // 2
        for i, (weights, shift) in enumerate(zip(self.parameters[:half], self.parameters[half:], strict=True)):
            x = x @ weights + shift
            if i < half - 1:
                x = leaky_relu(x, SLOPE)
        return torch.tanh(x) if self.network.tanh else x

    def step(self, loss: torch.Tensor) -> None:
        """One step down a loss, of these parameters alone."""
        for each, slope in zip(self.parameters, torch.autograd.grad(loss, self.parameters), strict=True):
            each.grad = slope
        self.adam.step()

    def write_back(self) -> None:
        """Give the network what was learned."""
        for own, learned in zip(self.network.parameters, self.parameters, strict=True):
            own[...] = learned.detach().numpy()


def _begun(records: Floats, size: Size, seed: int) -> tuple[np.random.Generator, Gan, Sequence[Layers]]:
    torch.set_num_threads(1)
    rng = np.random.default_rng(seed)
    gan = Gan(rng, size, records.shape[1])
    return rng, gan, [Layers(each, size.rate) for each in (gan.generator, gan.discriminator)]


def js_gan(records: Floats, size: Size, seed: int) -> Gan:
    """The original GAN (Goodfellow et al. 2014), the generator with the loss that does not saturate."""
    records = records.astype(SINGLE)
    rng, gan, (generator, discriminator) = _begun(records, size, seed)
    for _ in range(size.steps(len(records))):
        real = torch.from_numpy(records[rng.integers(len(records), size=size.batch)])
        fake = generator(torch.from_numpy(gan.seeds(rng, size.batch))).detach()
        discriminator.step(softplus(-discriminator(real)).mean() + softplus(discriminator(fake)).mean())
        seeds = torch.from_numpy(gan.seeds(rng, size.batch))
        generator.step(softplus(-discriminator(generator(seeds))).mean())
    generator.write_back()
    discriminator.write_back()
    return gan


def wgan_gp(records: Floats, size: Size, seed: int, turns: int = 5, weight: float = 10.0) -> Gan:
    """WGAN-GP (Gulrajani et al. 2017): a critic without a sigmoid, ``turns`` steps of it to one of the generator."""
    records = records.astype(SINGLE)
    rng, gan, (generator, critic) = _begun(records, size, seed)
    for step in range(size.steps(len(records))):
        real = torch.from_numpy(records[rng.integers(len(records), size=size.batch)])
        fake = generator(torch.from_numpy(gan.seeds(rng, size.batch))).detach()
        share = torch.from_numpy(rng.random((size.batch, 1)).astype(SINGLE))
        between = (share * real + (1.0 - share) * fake).requires_grad_()
        [slopes] = torch.autograd.grad(critic(between).sum(), between, create_graph=True)
        penalty = ((slopes.norm(dim=1) - 1.0) ** 2).mean()
        critic.step(critic(fake).mean() - critic(real).mean() + weight * penalty)
        if step % turns == turns - 1:
            generator.step(-critic(generator(torch.from_numpy(gan.seeds(rng, size.batch)))).mean())
    generator.write_back()
    critic.write_back()
    return gan


def main() -> None:
    """How far both ways are apart after some steps, as a share of how far the weights have moved."""
    members = FULL.split(0).members
    for name, here in (("js_gan", js_gan), ("wgan_gp", wgan_gp)):
        for epochs in (4, 40):
            size = Size(epochs)
            first = by_hand.Gan(np.random.default_rng(0), size, members.shape[1])
            one, other = (make(members, size, 0) for make in (getattr(by_hand, name), here))
            apart, moved = (
                max(
                    float(np.abs(a - b).max())
                    for a, b in zip(
                        [*one.generator.parameters, *one.discriminator.parameters],
                        [*each.generator.parameters, *each.discriminator.parameters],
                        strict=True,
                    )
                )
                for each in (other, first)
            )
            print(f"{name:8} {size.steps(len(members)):4} steps: apart {apart:.1e}, moved {moved:.1e}")


if __name__ == "__main__":
    main()
