import type { Revision, TimelineEntry } from './history-types.ts';
import { toShortName } from './named-object.ts';
import { isDocument, toDocument } from './output-format.ts';
import { type Column, toColumns } from './printed-columns.ts';
import type { Scope } from './scope.ts';
import type { Paint, Screen } from './screen.ts';
import type { Session } from './session.ts';
import { type ChangesLayout, mainChanges, toChanges } from './shown-changes.ts';
import { toShown } from './shown-text.ts';
import { numberOf, toAge, toLocalTime, toObject, toVerb, toWriter } from './write-texts.ts';

const USUAL_CHANGES = 20;

interface LogOptions {
  readonly session: Session;
  readonly scope: Scope;
  readonly format: string | undefined;
  readonly isOneLine: boolean;
}

/** A revision, or a timeline entry, which has a cause and may be an Event. */
type Logged = Revision & Pick<TimelineEntry, 'cause' | 'event'>;

/** Writes revisions in the requested format. */
export class LogWriter {
  readonly isDocument: boolean;
  readonly #options: LogOptions;
  #isFirst = true;
  readonly #widths: number[] = [];

  constructor(options: LogOptions) {
    this.#options = options;
    this.isDocument = isDocument(options.format);
  }

  async document(value: object): Promise<void> {
    const { session, format } = this.#options;
    if (isDocument(format)) await session.screen.write(toDocument(format, value, session.screen));
  }

  async page(revisions: readonly Logged[]): Promise<void> {
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

  /** One document for each revision. */
  #one(format: 'json' | 'yaml', revision: Logged): string {
    const text = toDocument(format, revision, this.#options.session.screen);
    return format === 'yaml' ? `---\n${text}` : text;
  }

  #lines(revisions: readonly Logged[]): string {
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

  #block(revision: Logged): string {
    const { session, scope, format } = this.#options;
    const { screen, now } = session;
    const { paint } = screen;
    const isWide = format === 'wide';
    const gap = this.#isFirst ? '' : '\n';
    this.#isFirst = false;
    const object = scope.isOneObject ? '' : `${toObject(revision, paint, scope.namespace)} `;
    const age = toAge(revision.at, now);
    const when = `${toLocalTime(revision.at)} ${paint('dim', `(${age} ago)`)}`;
    const head = `${paint('yellow', numberOf(revision))}  ${when}  ${object}${toDeed(revision, paint)}\n`;
    const layout: ChangesLayout = {
      paint,
      indent: 4,
      width: screen.columns,
      most: isWide ? Number.POSITIVE_INFINITY : USUAL_CHANGES,
    };
    return (
      gap +
      head +
      eventLine(revision) +
      restoredLine(revision) +
      (isWide ? wideLines(revision, screen) : '') +
      toChanges(revision, layout) +
      causeLine(revision, paint)
    );
  }
}

/** `updated by alice via kubectl-edit`, or the message of an Event. */
function toDeed(revision: Logged, paint: Paint): string {
  const { event } = revision;
  if (event === undefined) return `${toVerb(revision)} by ${toWriter(revision, paint)}`;
  const { type = '', reason = '', count = 1 } = event;
  const text = toShown(`${type} ${reason}`);
  return `${type === 'Warning' ? paint('red', text) : text}${count > 1 ? ` (${count} times)` : ''}`;
}

const eventLine = ({ event }: Logged): string => (event?.message ? `    ${toShown(event.message)}\n` : '');

const causeLine = ({ cause }: Logged, paint: Paint): string =>
  cause ? paint('dim', `    because of revision ${toShown(cause)}\n`) : '';

const restoredLine = ({ restored }: Revision): string =>
  restored ? `    restored to ${/^\d+$/.test(restored) ? 'revision ' : ''}${toShown(restored)}\n` : '';

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

function oneLineColumns({ isWide, isShort, now, scope }: OneLineOptions): Column<Logged>[] {
  const isNamespaced = scope.namespace === undefined && scope.named?.resource.isNamespaced !== false;
  const all: (Column<Logged> | undefined)[] = [
    { heading: 'REVISION', text: numberOf, style: () => 'yellow' },
    { heading: 'AGE', text: ({ at }) => toAge(at, now) },
    isNamespaced ? { heading: 'NAMESPACE', text: ({ object }) => object?.namespace ?? '' } : undefined,
    { heading: 'OBJECT', text: ({ object }) => toShortName(object ?? {}), most: 50 },
    { heading: 'DONE', text: (logged) => logged.event?.reason ?? toVerb(logged) },
    { heading: 'USER', text: ({ user }) => user ?? '', style: () => 'cyan', most: 24, keeps: 'end' },
    isWide ? { heading: 'MANAGER', text: ({ manager }) => manager ?? '' } : undefined,
    isWide ? { heading: 'ADDRESS', text: ({ sourceAddress }) => sourceAddress ?? '' } : undefined,
    isWide ? { heading: 'REQUEST', text: ({ requestID }) => requestID ?? '' } : undefined,
    { heading: 'CHANGED', text: (revision) => changedPaths(revision, isShort) },
  ];
  return all.filter((column) => column !== undefined);
}

/** On a terminal only the last part of a path fits. */
function changedPaths(logged: Logged, isShort: boolean): string {
  const { changesTruncated, event } = logged;
  if (event !== undefined) return event.message ?? '';
  const paths = mainChanges(logged).map(({ path = '' }) => path);
  const shown = isShort
    ? new Set(paths.map((path) => /[^.[]*(?:\[[^\]]*\])?$/.exec(path)?.[0] || path))
    : paths;
  return [...shown, ...(changesTruncated === true ? ['…'] : [])].join(', ');
}
