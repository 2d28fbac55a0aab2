"""``/v1/attack``: one attack's own advantage, beside the optimum of the same records."""

from estimators import AttackAdvantage, Counts, GuessRule, QuantileRule, ThresholdRule, TopRule, attack_advantage
from macekit.call import Call, Reply
from macekit.decoding.body import DecodedBody
from macekit.operations import encode
from macekit.operations.options import metric, parse_question, provenance, reply_of
from macekit.operations.samples import clusters_of, sample_of
from macekit.problems import Problem, fault
from macekit.questions import attack

KIND_OF = {"threshold": "threshold", "quantile": "quantile", "records": "top"}
"""The kind of rule that an option speaks for, if none is named."""

APPLIES = {
    "threshold": ("threshold",),
    "chosen_before": ("threshold",),
    "records": ("top",),
    "quantile": ("quantile",),
    "of": ("quantile",),
    "side": ("threshold", "top", "quantile"),
}
"""Kinds of rules that each option belongs to."""


def answer(call: Call, body: DecodedBody) -> Reply:
    """The attack's advantage, its rates and metrics, and its distance from the best attacker."""
    question = parse_question(attack.AttackQuestion, body)
    rule = attack_rule(question.rule)
    data = sample_of(body, question)
    if isinstance(data, Counts):
        detail = "an attack is judged record by record; send its guesses or its scores"
        raise fault("bad-option", "counts", detail)
    choice = question.metrics
    result = attack_advantage(
        data,
        rule,
        question.prior,
        question.confidence,
        question.seed,
        None if choice is None else [metric(each, question.prior) for each in choice],
        clusters_of(body),
    )
    document: attack.AttackAnswer = {
        "sentence": result.sentence,
        "attack": encode.interval(result.estimate),
        "baseline": result.baseline,
        "rule": _rule(result),
        "true_positive_rate": encode.interval(result.tpr),
        "false_positive_rate": encode.interval(result.fpr),
        "metrics": [
            encode.as_answer(attack.AttackMetricAnswer, each, name=name, **encode.interval(each))
            for name, each in result.metrics.items()
        ],
        "optimum": encode.certified(result.optimum),
        "gap": encode.interval(result.gap),
        "share_of_optimum": None if result.share is None else encode.interval(result.share),
        "warnings": encode.warnings((*body.cautions, *result.cautions)),
        "provenance": provenance(call, question, body, data, result.provenance.method),
    }
    return reply_of(call, document, data)


def attack_rule(options: attack.AttackRule) -> GuessRule | ThresholdRule | TopRule | QuantileRule:
    """The rule in the library's words; an option that would change nothing is refused."""
    kind = _kind(options)
    for name, kinds in APPLIES.items():
        if getattr(options, name) is not None and kind not in kinds:
            detail = f"rule.{name} applies only to kind {' or '.join(kinds)}, not {kind}; remove it"
            raise Problem("bad-option", detail, field=f"rule.{name}")
    side = options.side or "above"
    match kind:
        case "threshold":
            if options.threshold is None:
                raise _missing("threshold", kind)
            return ThresholdRule(options.threshold, side, options.chosen_before is not False)
        case "top":
            return TopRule(options.records, side)
        case "quantile":
            if options.quantile is None:
                raise _missing("quantile", kind)
            return QuantileRule(options.quantile, options.of or "all", side)
    return GuessRule()


def _kind(options: attack.AttackRule) -> str:
    """The kind that was named, or that the options speak for."""
    if options.kind != "auto":
        return options.kind
    names = [name for name in KIND_OF if getattr(options, name) is not None]
    if len(names) > 1:
        raise fault("bad-option", f"rule.{names[1]}", f"was sent together with rule.{names[0]}; send one")
    return KIND_OF[names[0]] if names else "guesses"


def _missing(name: str, kind: str) -> Problem:
    return fault("missing-field", f"rule.{name}", f"is required with kind {kind} and missing")


def _rule(result: AttackAdvantage) -> attack.AttackRuleAnswer:
    rule = result.rule
    return {
        "kind": rule.kind,
        "side": None if isinstance(rule, GuessRule) else rule.side,
        "cut": result.cut,
        "chosen_before": isinstance(rule, GuessRule) or (isinstance(rule, ThresholdRule) and rule.chosen_before),
        "members_accused": result.accusations[0],
        "nonmembers_accused": result.accusations[1],
    }
