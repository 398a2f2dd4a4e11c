"""`judge import`: a test collection in another form becomes a dataset folder; a command a format, made from the registry."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from judge.cli.options import data_option, form_options
from judge.cli.printing import Form, note, show

if TYPE_CHECKING:
    from judge.steps.importing import ImportedLanguage
    from pools._formats.format import Format, Input


class _Formats(click.Group):
    """The commands of the formats beside those that were added, each made when it is asked for."""

    def list_commands(self, context: click.Context) -> list[str]:
        from pools._formats import registry

        return sorted({*super().list_commands(context), *registry.names()})

    def get_command(self, context: click.Context, cmd_name: str) -> click.Command | None:
        found = super().get_command(context, cmd_name)
        if found is not None:
            return found
        from pools._formats import registry

        return _command(registry.get(cmd_name)) if cmd_name in registry.names() else None


@click.group(name="import", cls=_Formats)
def importing() -> None:
    """Make a dataset of a test collection in another form.

    Writes queries.jsonl.gz, corpus.jsonl.gz and qrels.jsonl.gz into the dataset's folder; ratings become expert ratings. A
    folder that holds another dataset already is refused. Scale and relevant_from are those of its judge.toml, if it has one.
    """


def _command(chosen: "Format") -> click.Command:
    examples = "\n".join(f"  {example}" for example in chosen.examples)
    heading = "Examples" if len(chosen.examples) > 1 else "Example"

    @click.command(chosen.name, help=f"{chosen.line}\n\n{chosen.about}\n\n\b\n{heading}:\n{examples}")
    @data_option
    @form_options
    def _run(data: Path, form: Form, **inputs: Any) -> None:
        from judge.cli import bars
        from judge.steps.importing import import_collection

        with bars.shown() as progress:
            found = import_collection(chosen.name, data=data, note=note, progress=progress, **inputs)
        documents = [entry.document() for entry in found]
        show(
            form,
            lambda: "\n".join(map(_sentence, found)),
            document=lambda: {"languages": documents},
            rows=lambda: documents,
        )

    _run.params += [_parameter(item) for item in chosen.inputs]
    return _run


def _parameter(item: "Input") -> click.Parameter:
    kind = click.Path(path_type=Path, exists=True, dir_okay=item.kind == "folder", file_okay=item.kind == "file")
    taken = click.STRING if item.kind == "text" else kind
    if item.positional:
        return click.Argument([item.name], type=taken, metavar=item.shown, required=item.required)
    return click.Option(
        [f"--{item.name.replace('_', '-')}", item.name],
        type=taken,
        metavar=item.shown,
        help=item.help,
        required=item.required,
        multiple=item.repeatable,
    )


def _sentence(entry: "ImportedLanguage") -> str:
    words = f"{entry.searches} searches ({entry.tuning} tuning), {entry.functions} functions"
    left_out = "" if entry.unresolved is None else f" ({entry.unresolved} unresolved)"
    return f"{entry.language}: {words}{left_out}, {entry.pairs} rated pairs, {entry.relevant} relevant"
