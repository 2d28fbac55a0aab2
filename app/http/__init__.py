"""HTTP faces: what each address answers, and what every request passes on its way there."""
