import { EVERYWHERE, FLAGS, type Flag, type FlagKey, KUBECTL_FLAGS } from './flags.ts';
import type { Paint } from './screen.ts';
import type { Command } from './session.ts';

/** The text of `kubectl history help`. */
export function toHelp(commands: readonly Command[], paint: Paint): string {
  const width = Math.max(...commands.map(({ name }) => name.length)) + 3;
  const lines = [
    'What was changed in a cluster, by whom and why; and how to take it back.',
    'For clusters of pg-apiserver.',
    '',
    paint('bold', 'Usage:'),
    '  kubectl history COMMAND [TYPE/NAME] [flags]',
    '',
    paint('bold', 'Commands:'),
    ...commands.map(({ name, summary }) => `  ${paint('cyan', name.padEnd(width))}${summary}`),
    '',
    paint('bold', 'Examples:'),
    ...toExamples(
      commands.flatMap(({ examples }) => examples.slice(0, 1)),
      paint,
    ),
    '',
    paint('bold', 'Moments:'),
    "  '10 min ago', 2h, 'yesterday 14:00', 9:30, '2026-11-22 14:00', 2026-11-22T14:00:00Z,",
    '  or the number of a revision.',
    '  Without a zone they are local times. A number is a revision, as kubectl history log shows it.',
    '',
    paint('bold', 'Flags of all commands:'),
    ...EVERYWHERE.map((key) => toFlag(FLAGS[key])),
    `  kubectl's own: ${KUBECTL_FLAGS.slice(0, 6)
      .map(({ name, short }) => (short ? `-${short}` : `--${name}`))
      .join(', ')} and so on`,
    '',
    paint('bold', 'Output:'),
    '  -o json and -o yaml are for programs, -o name for scripts, -o wide tells more.',
    '  For jsonpath, pipe JSON into jq.',
    '  Results go to the standard output; errors, warnings and questions to the standard error.',
    '',
    paint('bold', 'Environment:'),
    '  KUBECTL_HISTORY_PAGER or PAGER   the pager; less unless set, none where empty',
    '  NO_COLOR                         no colours',
    '',
    paint('bold', 'Exit codes:'),
    '  0 done, 1 failed, 2 the command line is wrong, 130 Ctrl-C',
    '  diff: 0 nothing different, 1 different, 2 failed',
    '',
    'kubectl history help COMMAND tells more.',
  ];
  return `${lines.join('\n')}\n`;
}

/** The text of `kubectl history help COMMAND`. */
export function toCommandHelp(command: Command, paint: Paint): string {
  const { name, usage, summary, notes = [], takes, formats, examples } = command;
  const flags = [...takes, ...EVERYWHERE].map((key: FlagKey) =>
    toFlag(
      key === 'output' && formats !== undefined
        ? { ...FLAGS.output, meaning: formats.join(', ') }
        : FLAGS[key],
    ),
  );
  const lines = [
    `${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`,
    ...notes.flatMap(wrap),
    '',
    paint('bold', 'Usage:'),
    `  kubectl history ${name}${usage === '' ? '' : ` ${usage}`} [flags]`,
    '',
    paint('bold', 'Examples:'),
    ...toExamples(examples, paint),
    '',
    paint('bold', 'Flags:'),
    ...flags,
  ];
  return `${lines.join('\n')}\n`;
}

const COLUMNS = 100;

/** A command to type, which is indented, stays in one piece. */
const wrap = (note: string): string[] =>
  note.startsWith(' ')
    ? [note]
    : (note.match(new RegExp(`.{1,${COLUMNS}}(?= |$)`, 'g')) ?? []).map((line) => line.trimStart());

/** Words of examples that are longer do not move the comments of others to the right. */
const USUAL = 40;

/** Each with its comment behind it, or above it where there is no room. */
function toExamples(examples: Command['examples'], paint: Paint): string[] {
  const width = Math.max(...examples.map(([words]) => Math.min(words.length, USUAL)));
  return examples.flatMap(([words, meaning]) => {
    const call = `  kubectl history ${words.padEnd(width)}`;
    const comment = `# ${meaning}`;
    return call.length + 3 + comment.length > COLUMNS
      ? [`  ${paint('dim', comment)}`, call.trimEnd()]
      : [`${call}   ${paint('dim', comment)}`];
  });
}

const FLAG_WIDTH = 28;

function toFlag({ name, short, value, meaning }: Flag): string {
  const dashes = short === undefined ? '    ' : `-${short}, `;
  return `  ${`${dashes}--${name}${value === undefined ? '' : ` ${value}`}`.padEnd(FLAG_WIDTH)} ${meaning}`;
}
