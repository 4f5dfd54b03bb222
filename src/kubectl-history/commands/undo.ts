import { noRevisions } from '../absence.ts';
import type { CommandArguments } from '../arguments.ts';
import type { Revision } from '../history-types.ts';
import { lastChange, placeOf } from '../last-change.ts';
import { readObject } from '../named-object.ts';
import { readFormat } from '../output-format.ts';
import { restore } from '../restoring.ts';
import { pointInTime } from '../scope.ts';
import { PLAIN } from '../screen.ts';
import type { Command, Session } from '../session.ts';
import { CommandError } from '../usage-error.ts';
import { before, numberOf, toAge, toLocalTime, toMoment, toSentence } from '../write-texts.ts';

export const undo: Command = {
  name: 'undo',
  usage: 'TYPE/NAME',
  summary: 'takes the last change of an object back',
  notes: [
    'Without --to: back to before its last change, other than of its status. It shows what it would do, and asks.',
    'It is a write like any other: admission, validation and your rights decide, and it can be undone.',
  ],
  takes: ['to', 'path', 'dryRun', 'yes', 'output'],
  formats: ['json', 'yaml', 'name'],
  examples: [
    ['undo deploy/web --dry-run', 'what would be changed'],
    ['undo deploy/web', 'take the last change back'],
    ["undo deploy/web --to '1 hour ago' --path spec.template", 'a part of it, as it was then'],
  ],
  fields: { 'spec.to': '--to', 'spec.paths': '--path' },
  run,
};

const wasCreated = (created: Revision): CommandError =>
  new CommandError(
    `the last change is that ${toSentence(created, PLAIN)} (revision ${numberOf(created)}): kubectl delete takes that back`,
  );

async function run(session: Session, args: CommandArguments): Promise<number> {
  const format = readFormat(undo, args);
  const given = pointInTime(session, args, 'to');
  const { cluster, resources, history } = await session.open();
  const place = placeOf(await readObject('undo', args.words, resources), cluster.namespace);
  const { resource, name } = place.object;
  let to = given;
  let title = given === undefined ? '' : `Back to the state ${toMoment(given)}:`;
  if (to === undefined) {
    const last = await lastChange(history, place);
    if (last === undefined) throw await noRevisions(history, place, session.now);
    if (last.verb === 'create') throw wasCreated(last);
    to = before(numberOf(last));
    const when = `${toLocalTime(last.at)}, ${toAge(last.at, session.now)} ago`;
    title = `Undo of revision ${numberOf(last)}, by which ${toSentence(last, PLAIN)} (${when}):`;
  }
  const paths = args.texts('path').map((path) => path.replace(/^\./, ''));
  const spec = {
    object: { group: resource.group, resource: resource.resource, namespace: place.namespace, name },
    to,
    ...(paths.length > 0 ? { paths } : {}),
  };
  return restore({ session, history, args, format, spec, title });
}
