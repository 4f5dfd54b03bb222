import { deletionOf } from '../absence.ts';
import type { CommandArguments } from '../arguments.ts';
import { type BlamedLine, toBlamedLines } from '../blamed-lines.ts';
import type { HistoryClient } from '../history-client.ts';
import type { Blame, BlamedField } from '../history-types.ts';
import { ServerError } from '../kubectl.ts';
import { nameOf, type ObjectPlace, placeOf } from '../last-change.ts';
import { readObject, toReference } from '../named-object.ts';
import { isDocument, readFormat, toDocument } from '../output-format.ts';
import { isWithin } from '../path-segments.ts';
import { type Column, toColumns } from '../printed-columns.ts';
import { pointInTime } from '../scope.ts';
import type { Command, Session } from '../session.ts';
import { CommandError } from '../usage-error.ts';
import { toAge, toLocalTime, toMoment } from '../write-texts.ts';

export const blame: Command = {
  name: 'blame',
  usage: 'TYPE/NAME',
  summary: 'who set each field to what it is, and when',
  notes: ['Fields set before the time that is kept have no revision.'],
  takes: ['path', 'at', 'output'],
  formats: ['json', 'yaml', 'wide'],
  examples: [
    ['blame deploy/web', 'each line of a deployment'],
    ['blame deploy/web --path spec.template.spec', 'a part of it'],
    ["blame cm/settings --at 'yesterday 14:00'", 'as it was then'],
  ],
  fields: { asOf: '--at' },
  run,
};

async function run(session: Session, args: CommandArguments): Promise<number> {
  const { screen, now } = session;
  const format = readFormat(blame, args);
  const at = pointInTime(session, args, 'at');
  const { cluster, resources, history } = await session.open();
  const place = placeOf(await readObject('blame', args.words, resources), cluster.namespace);
  const found = await readBlame(history, place, { at, now });
  const fields = within(found.fields ?? [], args.texts('path'));
  if (fields.length === 0) {
    const asked = args.texts('path').join(', ');
    throw new CommandError(
      `${nameOf(place)} has no field ${asked}; paths look like spec.template.spec.containers[name=web].image`,
    );
  }
  if (isDocument(format)) {
    await screen.write(toDocument(format, { ...found, fields }, screen));
    return 0;
  }
  screen.usePager();
  const columns = toBlameColumns(fields, { now, isWide: format === 'wide', width: screen.columns });
  await screen.write(
    toColumns(toBlamedLines(fields), columns, { paint: screen.paint, width: screen.columns, gap: '  ' }),
  );
  return 0;
}

interface Asked {
  readonly at: string | undefined;
  readonly now: Date;
}

async function readBlame(history: HistoryClient, place: ObjectPlace, { at, now }: Asked): Promise<Blame> {
  try {
    return await history.blame(toReference(place.object, place.namespace), at);
  } catch (error) {
    if (!(error instanceof ServerError) || error.reason !== 'NotFound') throw error;
    if (at !== undefined) throw new CommandError(`${nameOf(place)} was not there ${toMoment(at)}`);
    const deletion = await deletionOf(history, place, now);
    throw new CommandError(`${nameOf(place)} is not there${deletion === undefined ? '' : `: ${deletion}`}`);
  }
}

const within = (fields: readonly BlamedField[], paths: readonly string[]): readonly BlamedField[] =>
  paths.length === 0
    ? fields
    : fields.filter(({ path = '' }) => paths.some((asked) => isWithin(path, asked)));

/** Narrower terminals lack room for the object's lines beside the blame. */
const NARROW = 80;

interface BlameLayout {
  readonly now: Date;
  readonly isWide: boolean;
  readonly width: number | undefined;
}

function toBlameColumns(
  fields: readonly BlamedField[],
  { now, isWide, width = Number.POSITIVE_INFINITY }: BlameLayout,
): readonly Column<BlamedLine>[] {
  const manager: Column<BlamedLine> = {
    heading: 'MANAGER',
    text: ({ field }) => field?.manager ?? '',
    most: isWide ? 200 : 20,
  };
  const newest = fields.reduce((most, field) => Math.max(most, Number(field.revision ?? 0)), 0);
  const isNewest = ({ field }: BlamedLine): boolean => Number(field?.revision ?? -1) === newest;
  const when: Column<BlamedLine> = {
    heading: 'WHEN',
    text: ({ field }) => whenOf(field),
    style: () => 'dim',
  };
  return [
    {
      heading: 'REVISION',
      text: ({ field }) => (field === undefined ? '' : (field.revision ?? '-')),
      style: (line) => (isNewest(line) ? 'green' : 'yellow'),
    },
    {
      heading: 'USER',
      text: ({ field }) => field?.user ?? '',
      style: () => 'cyan',
      most: isWide ? 200 : width < NARROW ? 12 : 24,
      keeps: 'end',
    },
    ...(isWide || width >= NARROW ? [manager] : []),
    ...(isWide ? [when] : []),
    { heading: 'AGE', text: ({ field }) => toAge(field?.at, now), isRight: true, style: () => 'dim' },
    { heading: '', text: ({ text }) => `│ ${text}`, style: (line) => (isNewest(line) ? 'green' : undefined) },
  ];
}

const whenOf = (field: BlamedField | undefined): string =>
  field?.at === undefined ? '' : toLocalTime(field.at);
