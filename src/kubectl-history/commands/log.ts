import { setTimeout } from 'node:timers/promises';
import { noteEmpty } from '../absence.ts';
import type { CommandArguments } from '../arguments.ts';
import { FLAGS } from '../flags.ts';
import type { HistoryClient, RevisionsQuery, WatchFailure } from '../history-client.ts';
import type { Revision } from '../history-types.ts';
import { isPassing, ServerError } from '../kubectl.ts';
import { LogWriter } from '../log-writer.ts';
import { toReference } from '../named-object.ts';
import { readFormat, toList } from '../output-format.ts';
import { readScope, type Scope } from '../scope.ts';
import type { Command, OpenSession, Session } from '../session.ts';
import { toShown } from '../shown-text.ts';
import { CommandError, UsageError } from '../usage-error.ts';

export const log: Command = {
  name: 'log',
  usage: '[TYPE/NAME | TYPE]',
  summary: 'what was changed, by whom and when, newest first',
  notes: [
    'Without an object it tells of all in the namespace. With -f it begins with the last ten, oldest first.',
  ],
  takes: [
    'follow',
    'since',
    'until',
    'limit',
    'allNamespaces',
    'by',
    'manager',
    'verb',
    'related',
    'oneline',
    'output',
  ],
  formats: ['json', 'yaml', 'wide', 'name'],
  examples: [
    ['log deploy/web', 'what was changed in a deployment'],
    ['log deploy/web -f', 'and what will be, as it happens'],
    ['log deploy/web --related', 'with its replica sets, its pods and their Events'],
    ["log -n shop --since '2 hours ago'", 'in a namespace, of late'],
    ['log -A --by alice --verb delete --oneline', 'what alice deleted, a line each'],
  ],
  fields: { since: '--since', until: '--until' },
  run,
};

const LAST = 10;

async function run(session: Session, args: CommandArguments): Promise<number> {
  const format = readFormat(log, args);
  if (args.has('follow') && args.text('until') !== undefined) {
    throw new UsageError('--until and --follow: what follows has no end; leave one of them out');
  }
  const open = await session.open();
  const read = await readScope(session, open, args);
  const scope = args.has('related') ? { ...read, isOneObject: false } : read;
  const writer = new LogWriter({ session, scope, format, isOneLine: args.has('oneline') });
  if (args.has('related')) return printRelated({ session, open, scope, writer, args });
  return args.has('follow') ? follow(session, open, scope, writer) : printAll(session, open, scope, writer);
}

async function printAll(
  session: Session,
  { history }: OpenSession,
  scope: Scope,
  writer: LogWriter,
): Promise<number> {
  if (writer.isDocument) {
    await writer.document(toList('RevisionList', await history.revisions(scope.query)));
    return 0;
  }
  session.screen.usePager();
  let isEmpty = true;
  for await (const { items } of history.pages(scope.query)) {
    isEmpty &&= items.length === 0;
    await writer.page(items);
  }
  if (isEmpty) await noteEmpty(session, history, scope);
  return 0;
}

interface Related {
  readonly session: Session;
  readonly open: OpenSession;
  readonly scope: Scope;
  readonly writer: LogWriter;
  readonly args: CommandArguments;
}

async function printRelated({ session, open, scope, writer, args }: Related): Promise<number> {
  const { named, namespace, query } = scope;
  for (const key of ['follow', 'allNamespaces', 'by', 'manager', 'verb'] as const) {
    if (args.text(key) !== undefined)
      throw new UsageError(`--related takes no --${FLAGS[key].name}: it shows all that happened`);
  }
  if (named !== undefined && named.name === undefined) {
    throw new UsageError(`--related needs one object, or a namespace: ${named.resource.resource}/NAME`);
  }
  const { resource, name = '' } = named ?? {};
  const reference =
    resource === undefined ? `namespace:${namespace}` : toReference({ resource, name }, namespace ?? '');
  const entries = [...(await open.history.timeline(reference, query))].reverse().slice(0, query.limit);
  if (writer.isDocument) {
    await writer.document({ apiVersion: 'history.cluster.io/v1alpha1', kind: 'Timeline', entries });
    return 0;
  }
  session.screen.usePager();
  await writer.page(
    entries.map(({ revision = '?', ...entry }) => ({ ...entry, metadata: { name: revision } })),
  );
  if (entries.length === 0) await noteEmpty(session, open.history, scope);
  return 0;
}

/** The pause between two watches; it grows while the server does not answer. */
const PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 10_000;

async function follow(
  session: Session,
  { history }: OpenSession,
  { query }: Scope,
  writer: LogWriter,
): Promise<number> {
  const shown: Revision[] = [];
  let resourceVersion = '0';
  for await (const page of history.pages({
    ...query,
    limit: query.limit ?? (query.since === undefined ? LAST : undefined),
  })) {
    if (resourceVersion === '0') resourceVersion = page.resourceVersion;
    shown.push(...page.items);
  }
  await writer.page(shown.reverse());
  return watch({ session, history, query, writer }, resourceVersion);
}

interface Watching {
  readonly session: Session;
  readonly history: HistoryClient;
  readonly query: RevisionsQuery;
  readonly writer: LogWriter;
}

/** Each watch begins where the previous one ended, so that no revision is missed or repeated. */
async function watch({ session, history, query, writer }: Watching, from: string): Promise<never> {
  const { signal, screen } = session;
  let resourceVersion = from;
  for (let pauseMs = PAUSE_MS; !signal.aborted; ) {
    try {
      for await (const { type, object } of history.watch(query, resourceVersion, signal)) {
        if (type === 'ERROR') throw toError(object, resourceVersion);
        pauseMs = PAUSE_MS;
        resourceVersion = object.metadata?.resourceVersion ?? resourceVersion;
        if (type === 'ADDED') await writer.page([object]);
      }
    } catch (error) {
      if (!(error instanceof CommandError) || !isPassing(error) || signal.aborted) throw error;
      if (pauseMs === PAUSE_MS)
        screen.note(`${error.message}\nIt is tried again, from revision ${resourceVersion} on.`);
      pauseMs = Math.min(LONGEST_PAUSE_MS, 2 * pauseMs);
    }
    // The loop condition handles the abort.
    await setTimeout(pauseMs, undefined, { signal }).catch(() => {});
  }
  throw new CommandError('interrupted');
}

function toError(
  { reason = '', message = 'the watch failed' }: WatchFailure,
  resourceVersion: string,
): ServerError {
  const gone = `what came after revision ${resourceVersion} is not kept any more: `;
  return new ServerError(reason, toShown(`${reason === 'Expired' ? gone : ''}${message}`));
}
