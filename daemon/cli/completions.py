"""`fabricd completions`."""

from __future__ import annotations

import click

from fabricd.daemon.cli.talk import out


@click.command("completions")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]), metavar="SHELL")
def command(shell: str) -> int:
    """Print the script that teaches SHELL to complete fabricd: bash, zsh or fish.

    \b
    bash  source <(fabricd completions bash)   in ~/.bashrc; bash 4.4 or newer
    zsh   source <(fabricd completions zsh)    in ~/.zshrc, after compinit
    fish  fabricd completions fish > ~/.config/fish/completions/fabricd.fish
    """
    from click.shell_completion import ShellComplete, get_completion_class

    from fabricd.daemon.cli.root import cli

    found = get_completion_class(shell)
    assert found is not None, shell
    # The base class's: bash's own asks the bash on this machine, which need not be the one meant.
    script = ShellComplete.source(found(cli, {}, "fabricd", "_FABRICD_COMPLETE"))
    if shell == "fish":
        # Once: what stands behind the first comma are words for people, commas and all.
        script = script.replace('string split ","', 'string split --max 1 ","')
    out(script.rstrip("\n") + "\n")
    return 0
