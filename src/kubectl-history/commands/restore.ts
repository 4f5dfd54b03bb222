import { noRevisions } from '../absence.ts';
import type { CommandArguments } from '../arguments.ts';
import type { HistoryClient } from '../history-client.ts';
import type { RestoreSpec, Revision } from '../history-types.ts';
import { nameOf, type ObjectPlace, placeOf, selectorOf } from '../last-change.ts';
import { readObject } from '../named-object.ts';
import { readFormat } from '../output-format.ts';
import { restore as carryOut } from '../restoring.ts';
import { pointInTime } from '../scope.ts';
import type { Command, Session } from '../session.ts';
import { UsageError } from '../usage-error.ts';
import { before, numberOf, toLocalTime } from '../write-texts.ts';

export const restore: Command = {
  name: 'restore',
  usage: '(TYPE/NAME | namespace/NAME)',
  summary: 'puts an object, or a namespace with everything in it, back to what it was',
  notes: [
    'What was deleted needs no --at: it comes back as it was before.',
    'It shows what it would do, and asks.',
  ],
  takes: ['at', 'path', 'withDependents', 'dryRun', 'yes', 'output'],
  formats: ['json', 'yaml', 'name'],
  examples: [
    ["restore deploy/web --at '10 min ago' --dry-run", 'what would be changed'],
    ['restore cm/settings', 'a config map that was deleted'],
    ['restore deploy/web --at 4711 --with-dependents', 'with what it owned'],
    ['restore namespace/shop', 'a namespace that was deleted, with everything in it'],
  ],
  fields: { 'spec.to': '--at', 'spec.paths': '--path' },
  run,
};

async function run(session: Session, args: CommandArguments): Promise<number> {
  const format = readFormat(restore, args);
  const at = pointInTime(session, args, 'at');
  const { cluster, resources, history } = await session.open();
  const place = placeOf(await readObject('restore', args.words, resources), cluster.namespace);
  const to = at ?? (await beforeDeletion(history, place, session.now));
  const isNamespace = place.object.resource.resource === 'namespaces' && place.object.resource.group === '';
  if (isNamespace && args.texts('path').length > 0) {
    throw new UsageError(
      '--path: a namespace is restored with everything in it; name one object to restore a part of it',
    );
  }
  const title = `${nameOf(place)}${isNamespace ? ', with everything in it,' : ''} as of ${/^\d+$/.test(to) ? `revision ${to}` : toLocalTime(to)}:`;
  const spec = isNamespace ? { namespace: place.object.name, to } : specOf(place, to, args);
  return carryOut({ session, history, args, format, spec, title });
}

function specOf({ object, namespace }: ObjectPlace, to: string, args: CommandArguments): RestoreSpec {
  const { resource, name } = object;
  const paths = args.texts('path').map((path) => path.replace(/^\./, ''));
  return {
    object: { group: resource.group, resource: resource.resource, namespace, name },
    to,
    ...(paths.length > 0 ? { paths } : {}),
    ...(args.has('withDependents') ? { withDependents: true } : {}),
  };
}

/** Finds the state before the deletion began: finalizers and namespace contents disappear between the request and the end. */
async function beforeDeletion(history: HistoryClient, place: ObjectPlace, now: Date): Promise<string> {
  const items = await history.revisions({ fields: selectorOf(place), limit: 100 });
  const [deletion, ...earlier] = items;
  if (deletion === undefined) throw await noRevisions(history, place, now);
  if (deletion.verb !== 'delete') throw isThere(place);
  const created = earlier.findIndex(({ verb }) => verb !== 'update');
  const last = created < 0 ? earlier : earlier.slice(0, created);
  return before(numberOf(last.find(isRequestToDelete) ?? deletion));
}

const isRequestToDelete = ({ changes }: Revision): boolean =>
  (changes ?? []).some(({ path, old }) => path === 'metadata.deletionTimestamp' && old === undefined);

const isThere = (place: ObjectPlace): UsageError =>
  new UsageError(
    `--at is missing: ${nameOf(place)} was not deleted, so say which moment or revision is meant: --at '10 min ago'`,
  );
