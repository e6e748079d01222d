"""The prompts of verification through a generated function, as JSON or as tags."""

from schemas.functions import (
    ANSWER,
    CITATION,
    NOANS_LIST,
    PASSAGES,
    RATIONALE,
    TFN,
    VERDICT,
    Control,
)
from transforms.prompts import Prompts


def described(control: Control, xml: bool = False) -> list[str]:
    """Return what has a description: the fields but the verdict, and what stands beside them."""
    beside = [] if xml or control.citation else [PASSAGES]
    noans = [NOANS_LIST] if control.options == TFN else []
    return [*(name for name in control.fields if name != VERDICT), *beside, *noans]


def prompt_names(control: Control, xml: bool) -> list[str]:
    """Return the names of the prompts that judgements depend on."""
    arguments = [f"argument_{name}" for name in described(control, xml)]
    names = ["verify_user", "repair", f"verdicts_{control.options}", *arguments]
    if xml:
        return ["verify_xml_system", f"verify_xml_example_{control.options}", *names]
    return ["verify_facts_system", "function_verify", *names]


def system(prompts: Prompts, control: Control, xml: bool) -> str:
    """Return the system message."""
    verdicts = prompts[f"verdicts_{control.options}"]
    if not xml:
        return prompts.render("verify_facts_system", verdicts=verdicts)
    fields = [
        f"<{name}>: {prompts[f'argument_{name}']}" for name in control.fields if name != VERDICT
    ]
    fields.append(f"<{VERDICT}>: {', '.join(control.verdicts)}")
    if control.options == TFN:
        text = prompts[f"argument_{NOANS_LIST}"]
        fields.append(f"After the passages, <{NOANS_LIST}>: {text}")
    unused = {ANSWER, CITATION, RATIONALE}.difference(control.fields)
    example = "\n".join(
        line
        for line in prompts[f"verify_xml_example_{control.options}"].splitlines()
        if not any(line.startswith(f"<{name}>") for name in unused)
    )
    return prompts.render(
        "verify_xml_system", verdicts=verdicts, fields="\n".join(fields), example=example
    )
