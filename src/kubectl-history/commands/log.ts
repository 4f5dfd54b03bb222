import type { CommandArguments } from '../arguments.ts';
import { type ChangesLayout, toChanges } from '../changes.ts';
import { type Column, toColumns } from '../columns.ts';
import { isDocument, readFormat, toDocument, toList } from '../formats.ts';
import type { Revision } from '../history-types.ts';
import { ServerError } from '../kubectl.ts';
import { toShortName } from '../object-reference.ts';
import { readScope, type Scope } from '../scope.ts';
import type { Screen } from '../screen.ts';
import type { Command, OpenSession, Session } from '../session.ts';
import { toShown } from '../shown-text.ts';
import { CommandError, UsageError } from '../usage-error.ts';
import { numberOf, toAge, toLocalTime, toObject, toVerb, toWriter } from '../writes.ts';

export const log: Command = {
  name: 'log',
  usage: '[TYPE/NAME | TYPE]',
  summary: 'what was changed, by whom and when, newest first',
  notes: [
    'Without an object it tells of all in the namespace. With -f it begins with the last ten, oldest first.',
  ],
  takes: ['follow', 'since', 'until', 'limit', 'allNamespaces', 'by', 'manager', 'verb', 'oneline', 'output'],
  formats: ['json', 'yaml', 'wide', 'name'],
  examples: [
    ['log deploy/web', 'what was changed in a deployment'],
    ['log deploy/web -f', 'and what will be, as it happens'],
    ["log -n shop --since '2 hours ago'", 'in a namespace, of late'],
    ['log -A --by alice --verb delete --oneline', 'what alice deleted, a line each'],
  ],
  fields: { since: '--since', until: '--until' },
  run,
};

const LAST = 10;
const USUAL_CHANGES = 20;

async function run(session: Session, args: CommandArguments): Promise<number> {
  const format = readFormat(log, args);
  if (args.has('follow') && args.text('until') !== undefined) {
    throw new UsageError('--until and --follow: what follows has no end; leave one of them out');
  }
  const open = await session.open();
  const scope = await readScope(session, open, args);
  const writer = new LogWriter({ session, scope, format, isOneLine: args.has('oneline') });
  return args.has('follow') ? follow(session, open, scope, writer) : printAll(session, open, scope, writer);
}

async function printAll(
  { screen }: Session,
  { history }: OpenSession,
  scope: Scope,
  writer: LogWriter,
): Promise<number> {
  if (writer.isDocument) {
    await writer.document(await history.revisions(scope.query));
    return 0;
  }
  screen.usePager();
  let isEmpty = true;
  for await (const { items } of history.pages(scope.query)) {
    isEmpty &&= items.length === 0;
    await writer.page(items);
  }
  if (isEmpty) screen.tell('No changes found.');
  return 0;
}

async function follow(
  { signal }: Session,
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
  while (!signal.aborted) {
    for await (const { type, object } of history.watch(query, resourceVersion, signal)) {
      if (type === 'ERROR')
        throw new ServerError(object.reason ?? '', toShown(object.message ?? 'the watch failed'));
      resourceVersion = object.metadata?.resourceVersion ?? resourceVersion;
      if (type === 'ADDED') await writer.page([object]);
    }
  }
  throw new CommandError('interrupted');
}

interface LogOptions {
  readonly session: Session;
  readonly scope: Scope;
  readonly format: string | undefined;
  readonly isOneLine: boolean;
}

class LogWriter {
  readonly isDocument: boolean;
  readonly #options: LogOptions;
  #isFirst = true;
  readonly #widths: number[] = [];

  constructor(options: LogOptions) {
    this.#options = options;
    this.isDocument = isDocument(options.format);
  }

  async document(revisions: readonly Revision[]): Promise<void> {
    const { session, format } = this.#options;
    if (isDocument(format))
      await session.screen.write(toDocument(format, toList('RevisionList', revisions), session.screen));
  }

  async page(revisions: readonly Revision[]): Promise<void> {
    if (revisions.length === 0) return;
    const { session, format, isOneLine } = this.#options;
    const { screen } = session;
    const text = isDocument(format)
      ? revisions.map((revision) => this.#one(format, revision)).join('')
      : format === 'name'
        ? revisions.map((revision) => `revision.history.cluster.io/${numberOf(revision)}\n`).join('')
        : isOneLine
          ? this.#lines(revisions)
          : revisions.map((revision) => this.#block(revision)).join('');
    this.#isFirst = false;
    await screen.write(text);
  }

  /** Of what follows: a document each. */
  #one(format: 'json' | 'yaml', revision: Revision): string {
    const text = toDocument(format, revision, this.#options.session.screen);
    return format === 'yaml' ? `---\n${text}` : text;
  }

  #lines(revisions: readonly Revision[]): string {
    const { session, scope, format } = this.#options;
    const { screen, now } = session;
    const columns = oneLineColumns({
      isWide: format === 'wide',
      isShort: screen.columns !== undefined && format !== 'wide',
      now,
      scope,
    });
    return toColumns(revisions, columns, {
      paint: screen.paint,
      width: screen.columns,
      hasHeadings: this.#isFirst,
      widths: this.#widths,
    });
  }

  #block(revision: Revision): string {
    const { session, scope, format } = this.#options;
    const { screen, now } = session;
    const { paint } = screen;
    const isWide = format === 'wide';
    const gap = this.#isFirst ? '' : '\n';
    this.#isFirst = false;
    const object = scope.isOneObject ? '' : `${toObject(revision, paint, scope.namespace)} `;
    const age = toAge(revision.at, now);
    const head = `${paint('yellow', numberOf(revision))}  ${toLocalTime(revision.at)} ${paint('dim', `(${age} ago)`)}  ${object}${toVerb(revision)} by ${toWriter(revision, paint)}\n`;
    const layout: ChangesLayout = {
      paint,
      indent: 4,
      width: screen.columns,
      most: isWide ? Number.POSITIVE_INFINITY : USUAL_CHANGES,
    };
    return (
      gap +
      head +
      restoredLine(revision) +
      (isWide ? wideLines(revision, screen) : '') +
      toChanges(revision, layout)
    );
  }
}

const restoredLine = ({ restored }: Revision): string =>
  restored ? `    restored to ${toShown(restored)}\n` : '';

function wideLines(
  { sourceAddress, userAgent, requestID, generation, object }: Revision,
  { paint }: Screen,
): string {
  const facts: readonly (readonly [string, unknown])[] = [
    ['from', sourceAddress],
    ['agent', userAgent],
    ['request', requestID],
    ['uid', object?.uid],
    ['generation', generation],
  ];
  return facts
    .filter(([, value]) => value !== undefined && value !== '')
    .map(([name, value]) => `    ${paint('dim', `${name} ${toShown(String(value))}`)}\n`)
    .join('');
}

interface OneLineOptions {
  readonly isWide: boolean;
  readonly isShort: boolean;
  readonly now: Date;
  readonly scope: Scope;
}

function oneLineColumns({ isWide, isShort, now, scope }: OneLineOptions): Column<Revision>[] {
  const isNamespaced = scope.namespace === undefined && scope.named?.resource.isNamespaced !== false;
  const all: (Column<Revision> | undefined)[] = [
    { heading: 'REVISION', text: numberOf, style: () => 'yellow' },
    { heading: 'AGE', text: ({ at }) => toAge(at, now) },
    isNamespaced ? { heading: 'NAMESPACE', text: ({ object }) => object?.namespace ?? '' } : undefined,
    { heading: 'OBJECT', text: ({ object }) => toShortName(object ?? {}), most: 50 },
    { heading: 'DONE', text: toVerb },
    { heading: 'USER', text: ({ user }) => user ?? '', style: () => 'cyan', most: 24, keeps: 'end' },
    isWide ? { heading: 'MANAGER', text: ({ manager }) => manager ?? '' } : undefined,
    isWide ? { heading: 'ADDRESS', text: ({ sourceAddress }) => sourceAddress ?? '' } : undefined,
    isWide ? { heading: 'REQUEST', text: ({ requestID }) => requestID ?? '' } : undefined,
    { heading: 'CHANGED', text: (revision) => changedPaths(revision, isShort) },
  ];
  return all.filter((column) => column !== undefined);
}

/** On a terminal a path has no room: its last part has to do. */
function changedPaths({ changes, changesTruncated }: Revision, isShort: boolean): string {
  const paths = (changes ?? []).map(({ path = '' }) => path).filter((path) => path !== '');
  const shown = isShort
    ? new Set(paths.map((path) => /[^.[]*(?:\[[^\]]*\])?$/.exec(path)?.[0] || path))
    : paths;
  return [...shown, ...(changesTruncated === true ? ['…'] : [])].join(', ');
}
