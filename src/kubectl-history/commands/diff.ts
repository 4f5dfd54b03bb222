import type { JsonValue } from '../../api/object-meta.ts';
import { toYaml } from '../../codec/yaml/emitter.ts';
import { noRevisions } from '../absence.ts';
import type { CommandArguments } from '../arguments.ts';
import type { HistoryClient } from '../history-client.ts';
import type { Revision } from '../history-types.ts';
import { assertOf, lastChange, nameOf, type ObjectPlace, placeOf } from '../last-change.ts';
import { differences } from '../line-differences.ts';
import { withoutManagedFields } from '../managed-fields.ts';
import { pathOf, readObject } from '../named-object.ts';
import { pointInTime, revisionNumber } from '../scope.ts';
import { PLAIN, type Screen } from '../screen.ts';
import type { Command, OpenSession, Session } from '../session.ts';
import { toShown } from '../shown-text.ts';
import { CommandError, UsageError } from '../usage-error.ts';
import { before, numberOf, toAge, toLocalTime, toWriter } from '../write-texts.ts';

export const diff: Command = {
  name: 'diff',
  usage: 'TYPE/NAME',
  summary: 'what is different between two states of an object',
  notes: [
    'Without --from and --to: what the last change did, other than to the status.',
    'The exit code is 0 where nothing is different, 1 where something is, 2 where it failed.',
  ],
  takes: ['from', 'to', 'revision', 'unified', 'showManagedFields'],
  examples: [
    ['diff deploy/web', 'what the last change did'],
    ["diff deploy/web --from '1 hour ago'", 'what is different since then'],
    ['diff deploy/web --from 4700 --to 4712', 'between two revisions'],
    ['diff deploy/web --revision 4712', 'what one revision did'],
  ],
  failure: 2,
  fields: { asOf: '--from, --to', name: '--revision' },
  run,
};

/** One side: a state of the object, and its name. */
interface Side {
  readonly asOf: string | undefined;
  readonly label: string;
}

async function run(session: Session, args: CommandArguments): Promise<number> {
  const { screen } = session;
  const around = args.text('unified') === '0' ? 0 : (args.count('unified') ?? 3);
  const open = await session.open();
  const place = placeOf(await readObject('diff', args.words, open.resources), open.cluster.namespace);
  const [from, to] = await readSides(session, open, place, args);
  const path = pathOf(place.object, place.namespace === '' ? undefined : place.namespace);
  const [old, becomes] = await Promise.all([from, to].map(({ asOf }) => open.history.object(path, asOf)));
  if (old === undefined && becomes === undefined) {
    throw new CommandError(`${nameOf(place)} was there at neither of the two`);
  }
  const hunks = differences(toLines(old, args), toLines(becomes, args), around);
  if (hunks.length === 0) return 0;
  screen.usePager();
  await screen.write(
    [
      screen.paint('bold', toShown(`diff ${nameOf(place)}`)),
      screen.paint('bold', `--- ${old === undefined ? 'not there, ' : ''}${from.label}`),
      screen.paint('bold', `+++ ${becomes === undefined ? 'not there, ' : ''}${to.label}`),
      ...hunks.flatMap(({ oldStart, oldLines, newStart, newLines, lines }) => [
        screen.paint('cyan', `@@ -${oldStart},${oldLines} +${newStart},${newLines} @@`),
        ...lines.map((line) => toPainted(line, screen)),
      ]),
      '',
    ].join('\n'),
  );
  return 1;
}

function toPainted(line: string, { paint }: Screen): string {
  const text = toShown(line);
  return line.startsWith('+') ? paint('green', text) : line.startsWith('-') ? paint('red', text) : text;
}

function toLines(object: JsonValue | undefined, args: CommandArguments): string {
  if (object === undefined) return '';
  return toYaml(
    withoutManagedFields(object, { isShown: args.has('showManagedFields'), isVersionShown: false }),
  );
}

async function readSides(
  session: Session,
  { history }: OpenSession,
  place: ObjectPlace,
  args: CommandArguments,
): Promise<readonly [Side, Side]> {
  const [from, to, number] = [
    pointInTime(session, args, 'from'),
    pointInTime(session, args, 'to'),
    revisionNumber(args),
  ];
  if (number !== undefined && (from ?? to) !== undefined) {
    throw new UsageError(
      '--revision compares a revision with the state before it: leave out --from and --to',
    );
  }
  if (from !== undefined)
    return [sideOf(from), to === undefined ? { asOf: undefined, label: 'now' } : sideOf(to)];
  if (to !== undefined) throw new UsageError('--to needs --from: the state to compare with');
  const revision =
    number === undefined ? await lastChange(history, place) : await revisionOf(history, number, place);
  if (revision === undefined) throw await noRevisions(history, place, session.now);
  return sidesOf(revision, session);
}

const sideOf = (asOf: string): Side => ({
  asOf,
  label: /^\d+$/.test(asOf) ? `revision ${asOf}` : toLocalTime(asOf),
});

async function revisionOf(history: HistoryClient, number: string, place: ObjectPlace): Promise<Revision> {
  const revision = await history.revision(number);
  assertOf(revision.object, number, place);
  return revision;
}

function sidesOf(revision: Revision, { now }: Session): readonly [Side, Side] {
  const number = numberOf(revision);
  const when = `${toLocalTime(revision.at)} (${toAge(revision.at, now)} ago)`;
  return [
    { asOf: before(number), label: `before revision ${number}` },
    { asOf: number, label: `revision ${number}, ${when}, ${toWriter(revision, PLAIN)}` },
  ];
}
