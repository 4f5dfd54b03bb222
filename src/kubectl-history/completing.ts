import { parseCommandLine } from './arguments.ts';
import { COMMANDS } from './commands/all.ts';
import { EVERYWHERE, FLAGS, type Flag, KUBECTL_FLAGS } from './flags.ts';
import { qualified } from './resources.ts';
import type { Command, Session } from './session.ts';
import { toShown } from './shown-text.ts';

/**
 * What may follow on the command line, as kubectl's completion expects it of a plugin: a line each, with a tab before what it
 * means; and last a colon and what the shell is to do (cobra's directives).
 */

const NO_FILES = 4;
/** No space behind it: `deploy/` goes on. */
const NO_SPACE = 2;

export interface Completion {
  readonly words: readonly string[];
  readonly directive: number;
}

export const toCompletionText = ({ words, directive }: Completion): string =>
  `${words.map((word) => `${word}\n`).join('')}:${directive}\n`;

/** `args` are the words before the cursor; the last is the one being typed, and may be empty. */
export async function complete(
  args: readonly string[],
  open: (args: readonly string[]) => Session,
): Promise<Completion> {
  const typed = args.at(-1) ?? '';
  const before = args.slice(0, -1);
  const command = COMMANDS.find(({ name }) => name === wordsOf(before)[0]);
  const flag = valueFlag(before.at(-1));
  if (flag !== undefined) return only(typed, await valuesOf(flag, command, () => open(before.slice(0, -1))));
  if (typed.startsWith('-')) return only(typed, flagsOf(command));
  if (command === undefined) {
    const names = COMMANDS.map(({ name, summary }) => `${name}\t${summary}`);
    return only(typed, wordsOf(before).length > 0 ? [] : [...names, 'help\thelp, with examples']);
  }
  if (command.name === 'completion') return only(typed, ['bash', 'zsh', 'fish', 'kubectl']);
  if (command.usage === '') return only(typed, []);
  return objects(typed, wordsOf(before).slice(1), open(before));
}

const only = (typed: string, words: readonly string[]): Completion => ({
  words: words.filter((word) => word.startsWith(typed)),
  directive: NO_FILES,
});

function wordsOf(args: readonly string[]): readonly string[] {
  try {
    return parseCommandLine(args).words;
  } catch {
    // A flag whose value is being typed.
    return parseOr(args.slice(0, -1));
  }
}

function parseOr(args: readonly string[]): readonly string[] {
  try {
    return parseCommandLine(args).words;
  } catch {
    return [];
  }
}

const ALL: readonly Flag[] = [...Object.values(FLAGS), ...KUBECTL_FLAGS];

/** The flag whose value comes next. */
function valueFlag(last: string | undefined): Flag | undefined {
  if (last === undefined || !last.startsWith('-') || last.includes('=')) return undefined;
  return ALL.find(
    ({ name, short, type }) => type === 'string' && (last === `--${name}` || last === `-${short}`),
  );
}

function flagsOf(command: Command | undefined): string[] {
  const own = [...(command?.takes ?? []), ...EVERYWHERE].map((key): Flag => FLAGS[key]);
  return [...own, ...KUBECTL_FLAGS].map(
    ({ name, meaning }) => `--${name}${meaning === '' ? '' : `\t${meaning}`}`,
  );
}

async function valuesOf(
  { name, choices }: Flag,
  command: Command | undefined,
  open: () => Session,
): Promise<string[]> {
  if (choices !== undefined) return [...choices];
  if (name === 'output') return [...(command?.formats ?? [])];
  if (['since', 'until', 'at', 'from', 'to'].includes(name))
    return ["'10 min ago'", '1h', 'yesterday', 'today'];
  if (name === 'namespace') return namesFrom(open(), ['get', 'namespaces', '--output=name']);
  if (name === 'context') return namesFrom(open(), ['config', 'get-contexts', '--output=name']);
  return [];
}

async function namesFrom({ kubectl }: Session, args: readonly string[]): Promise<string[]> {
  const { stdout } = await kubectl.run(args);
  return stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => toShown(line.slice(line.indexOf('/') + 1)));
}

async function objects(typed: string, before: readonly string[], session: Session): Promise<Completion> {
  const { resources, cluster } = await session.open();
  const slash = typed.indexOf('/');
  const [type] = slash < 0 ? before : [typed.slice(0, slash)];
  if (type === undefined) {
    const all = await resources.all();
    const unique = new Set(all.map(({ resource }) => resource));
    const names = [...unique]
      .map((name) => all.find(({ resource }) => resource === name))
      .filter((one) => one !== undefined);
    return {
      words: names.map(({ resource }) => resource).filter((name) => name.startsWith(typed)),
      directive: NO_FILES | NO_SPACE,
    };
  }
  const resource = await resources.find(type);
  const scope = resource.isNamespaced ? [`--namespace=${cluster.namespace}`] : [];
  const found = await namesFrom(session, ['get', qualified(resource), '--output=name', ...scope]);
  return only(typed, slash < 0 ? found : found.map((name) => `${type}/${name}`));
}
