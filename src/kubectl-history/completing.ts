import { toQualifiedResource } from '../api/names.ts';
import { parseCommandLine } from './arguments.ts';
import { COMMANDS } from './commands/all-commands.ts';
import { EVERYWHERE, FLAGS, type Flag, KUBECTL_FLAGS } from './flags.ts';
import type { Resource } from './found-resources.ts';
import type { HistoryClient } from './history-client.ts';
import { placeOf, selectorOf } from './last-change.ts';
import { readNamed } from './named-object.ts';
import { PLAIN } from './screen.ts';
import type { Command, Session } from './session.ts';
import { mainChanges } from './shown-changes.ts';
import { cutEnd, toShown } from './shown-text.ts';
import { numberOf, toAge, toVerb, toWriter } from './write-texts.ts';

/**
 * Completes a command line in the form that kubectl expects of a plugin: one line each, with a tab before its description;
 * last, a colon and a directive for the shell (cobra's directives).
 */

const NO_FILES = 4;
/** Adds no space: `deploy/` continues. */
const NO_SPACE = 2;

interface Completion {
  readonly words: readonly string[];
  readonly directive: number;
}

export const toCompletionText = ({ words, directive }: Completion): string =>
  `${words.map((word) => `${word}\n`).join('')}:${directive}\n`;

/** `args`: the words before the cursor; the last is being typed, and may be empty. */
export async function complete(
  args: readonly string[],
  open: (args: readonly string[]) => Session,
): Promise<Completion> {
  const typed = args.at(-1) ?? '';
  const before = args.slice(0, -1);
  const words = wordsOf(before);
  const command = COMMANDS.find(({ name }) => name === words[0]);
  const openFor = (line: readonly string[]): Session => open([PATIENCE, ...line]);
  const [attached, value = ''] = attachedFlag(typed) ?? [];
  if (attached !== undefined) return only(value, await valuesOf(attached, command, openFor, before));
  const flag = valueFlag(before.at(-1));
  if (flag !== undefined) return only(typed, await valuesOf(flag, command, openFor, before.slice(0, -1)));
  if (typed.startsWith('-')) return only(typed, flagsOf(command));
  if (words.length === 0 || (words.length === 1 && words[0] === 'help'))
    return only(typed, commandNames(words));
  if (command === undefined || command.usage === '') return only(typed, []);
  if (command.name === 'completion')
    return only(typed, words.length > 1 ? [] : ['bash', 'zsh', 'fish', 'kubectl']);
  return objects(typed, command, words.slice(1), openFor(before));
}

/** Short, because the user waits. A --request-timeout on the command line comes later and wins. */
const PATIENCE = '--request-timeout=5s';

function commandNames(words: readonly string[]): string[] {
  const names = COMMANDS.map(({ name, summary }) => `${name}\t${summary}`);
  return words.length > 0 ? names : [...names, 'help\thelp, with examples'];
}

const only = (typed: string, words: readonly string[]): Completion => ({
  words: words.filter((word) => word.startsWith(typed)),
  directive: NO_FILES,
});

function wordsOf(args: readonly string[]): readonly string[] {
  try {
    return parseCommandLine(args).words;
  } catch {
    // The value of a flag is being typed.
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

/** The flag that expects its value next. */
function valueFlag(last: string | undefined): Flag | undefined {
  if (last === undefined || !last.startsWith('-') || last.includes('=')) return undefined;
  return ALL.find(
    ({ name, short, type }) => type === 'string' && (last === `--${name}` || last === `-${short}`),
  );
}

/** `--output=js`: the flag, and its value so far. kubectl's shell scripts prefix completions with the flag. */
function attachedFlag(typed: string): readonly [Flag, string] | undefined {
  const [, name, value = ''] = /^(--?[^=]+)=(.*)$/s.exec(typed) ?? [];
  const flag = valueFlag(name);
  return flag === undefined ? undefined : [flag, value];
}

function flagsOf(command: Command | undefined): string[] {
  const own = [...(command?.takes ?? []), ...EVERYWHERE].map((key): Flag => FLAGS[key]);
  return [...own, ...KUBECTL_FLAGS].map(
    ({ name, meaning }) => `--${name}${meaning === '' ? '' : `\t${meaning}`}`,
  );
}

/** None with spaces: shells differ in quoting them. */
const MOMENTS: readonly string[] = ['10m', '1h', '24h', 'today', 'yesterday'];
const TAKE_MOMENTS: ReadonlySet<string> = new Set(['since', 'until', 'at', 'from', 'to']);

async function valuesOf(
  { name, choices }: Flag,
  command: Command | undefined,
  open: (line: readonly string[]) => Session,
  line: readonly string[],
): Promise<readonly string[]> {
  if (choices !== undefined) return choices;
  if (name === 'output') return command?.formats ?? [];
  if (TAKE_MOMENTS.has(name)) return [...MOMENTS, ...(await revisionsOf(open(line), wordsOf(line)))];
  if (name === 'revision') return revisionsOf(open(line), wordsOf(line));
  if (name === 'namespace') return namesFrom(open(line), ['get', 'namespaces', '--output=name']);
  if (name === 'context') return namesFrom(open(line), ['config', 'get-contexts', '--output=name']);
  if (name === 'cluster') return namesFrom(open(line), ['config', 'get-clusters'], 1);
  if (name === 'user') return namesFrom(open(line), ['config', 'get-users'], 1);
  return [];
}

const MOST_REVISIONS = 10;

/** The newest revisions of the named object; without one, times. */
const revisionsOf = (session: Session, words: readonly string[]): Promise<string[]> =>
  readRevisions(session, words).catch(() => []);

/** Each with a summary. */
async function readRevisions(session: Session, words: readonly string[]): Promise<string[]> {
  const { cluster, resources, history } = await session.open();
  const named = await readNamed(words.slice(1), resources);
  if (named?.name === undefined) return [];
  const place = placeOf({ ...named, name: named.name }, cluster.namespace);
  const revisions = await history.revisions({ fields: selectorOf(place), limit: MOST_REVISIONS });
  return revisions.map((revision) => {
    const paths = mainChanges(revision).map(({ path = '' }) => path);
    const what = paths.length === 0 ? '' : `: ${cutEnd(toShown(paths.join(', ')), 60)}`;
    const deed = `${toVerb(revision)} by ${toWriter(revision, PLAIN)} ${toAge(revision.at, session.now)} ago`;
    return `${numberOf(revision)}\t${deed}${what}`;
  });
}

/** Names of RBAC's objects may have any character, and bash inserts completions unquoted: it would run `$(…)` in a name. */
const SAFE = /^[\w.:@%+,-]+$/;

async function namesFrom(
  { kubectl }: Session,
  args: readonly string[],
  headings = 0,
): Promise<readonly string[]> {
  const { stdout } = await kubectl.run(args);
  return stdout
    .split('\n')
    .slice(headings)
    .map((line) => line.slice(line.indexOf('/') + 1))
    .filter((name) => SAFE.test(name));
}

async function objects(
  typed: string,
  command: Command,
  before: readonly string[],
  session: Session,
): Promise<Completion> {
  const [first] = before;
  if (before.length > 1 || first?.includes('/') === true) return only(typed, []);
  const { resources, cluster, history } = await session.open();
  const slash = first === undefined ? typed.indexOf('/') : -1;
  const type = slash < 0 ? first : typed.slice(0, slash);
  if (type === undefined) {
    const names = new Set((await resources.all()).map(({ resource }) => resource));
    return { ...only(typed, [...names]), directive: NO_FILES | NO_SPACE };
  }
  const resource = await resources.find(type);
  const namespace = resource.isNamespaced ? cluster.namespace : undefined;
  const scope = namespace === undefined ? [] : [`--namespace=${namespace}`];
  const there = await namesFrom(session, ['get', toQualifiedResource(resource), '--output=name', ...scope]);
  const gone = command.name === 'restore' ? await namesGone(history, { resource, namespace }) : [];
  const names = [...new Set([...gone, ...there])];
  return only(typed, slash < 0 ? names : names.map((name) => `${type}/${name}`));
}

const MOST_GONE = 50;

async function namesGone(
  history: HistoryClient,
  { resource, namespace }: { readonly resource: Resource; readonly namespace: string | undefined },
): Promise<readonly string[]> {
  const fields = {
    ...{ 'object.resource': toQualifiedResource(resource), 'object.namespace': namespace },
    verb: 'delete',
  };
  const deletions = await history.revisions({ fields, limit: MOST_GONE });
  return deletions.map(({ object }) => object?.name ?? '').filter((name) => SAFE.test(name));
}
