import { toQualifiedResource } from '../../api/names.ts';
import type { JsonObject, JsonValue } from '../../api/object-meta.ts';
import { deletionOf } from '../absence.ts';
import type { CommandArguments } from '../arguments.ts';
import type { HistoryClient } from '../history-client.ts';
import { placeOf } from '../last-change.ts';
import { withoutManagedFields } from '../managed-fields.ts';
import { type Named, pathOf, readNamed, toShortName } from '../named-object.ts';
import { readFormat, toDocument } from '../output-format.ts';
import { toColumns } from '../printed-columns.ts';
import { pointInTime } from '../scope.ts';
import type { Command, Session } from '../session.ts';
import { toShown } from '../shown-text.ts';
import { CommandError, UsageError } from '../usage-error.ts';
import { toAge, toMoment } from '../write-texts.ts';

export const show: Command = {
  name: 'show',
  usage: '(TYPE/NAME | TYPE)',
  summary: 'an object as it was, or a list of those that were there',
  takes: ['at', 'allNamespaces', 'showManagedFields', 'output'],
  formats: ['yaml', 'json', 'name'],
  examples: [
    ["show deploy/web --at '10 min ago'", 'a deployment as it was'],
    ["show pods --at 'yesterday 14:00'", 'the pods that there were'],
    ['show cm/settings --at 4711 -o json | kubectl diff -f -', 'compared with what is there now'],
  ],
  fields: { asOf: '--at' },
  run,
};

async function run(session: Session, args: CommandArguments): Promise<number> {
  const { screen, now } = session;
  const format = readFormat(show, args);
  const at = pointInTime(session, args, 'at');
  const { cluster, resources, history } = await session.open();
  const named = await readNamed(args.words, resources);
  if (named === undefined)
    throw new UsageError("show needs an object: kubectl history show deploy/web --at '10 min ago'");
  if (named.name !== undefined && args.has('allNamespaces') && named.resource.isNamespaced) {
    throw new UsageError(
      '--all-namespaces: an object has one namespace; name it with -n, or leave out the name',
    );
  }
  const namespace = args.has('allNamespaces') ? undefined : cluster.namespace;
  const found = await history.object(pathOf(named, namespace), at);
  if (found === undefined) {
    const missing = notThere(named, namespace, at);
    const deletion = at === undefined ? await deletionIn(history, named, { namespace, now }) : undefined;
    throw new CommandError(deletion === undefined ? missing : `${missing}: ${deletion}`);
  }
  const value = withoutManagedFields(found, { isShown: args.has('showManagedFields'), isVersionShown: true });
  screen.usePager();
  if (format === 'name') await screen.write(namesOf(value, named));
  else if (format !== undefined || named.name !== undefined) {
    await screen.write(toDocument(format === 'json' ? 'json' : 'yaml', value, screen));
  } else
    await screen.write(
      toTable(value, {
        now,
        at,
        isEverywhere: namespace === undefined && named.resource.isNamespaced,
        screen,
      }),
    );
  return 0;
}

interface Asked {
  readonly namespace: string | undefined;
  readonly now: Date;
}

/** A server without history returns undefined. */
async function deletionIn(
  history: HistoryClient,
  { resource, name = '' }: Named,
  { namespace = '', now }: Asked,
): Promise<string | undefined> {
  return deletionOf(history, placeOf({ resource, name }, namespace), now).catch(() => undefined);
}

function notThere({ resource, name }: Named, namespace: string | undefined, at: string | undefined): string {
  const what = `${toQualifiedResource(resource)} ${JSON.stringify(name ?? '')}`;
  const where = resource.isNamespaced && namespace !== undefined ? ` in namespace ${namespace}` : '';
  if (at === undefined) return `${what} is not there${where}`;
  return `${what} was not there${where} ${toMoment(at)}`;
}

interface Item {
  readonly name: string;
  readonly namespace: string;
  readonly created: string | undefined;
}

function itemsOf(value: JsonValue): Item[] {
  const items = isObject(value) && Array.isArray(value.items) ? value.items : [value];
  return items.filter(isObject).map(({ metadata }) => {
    const { name, namespace, creationTimestamp } = isObject(metadata) ? metadata : {};
    return {
      name: typeof name === 'string' ? name : '',
      namespace: typeof namespace === 'string' ? namespace : '',
      created: typeof creationTimestamp === 'string' ? creationTimestamp : undefined,
    };
  });
}

const isObject = (value: JsonValue | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const namesOf = (value: JsonValue, { resource }: Named): string =>
  itemsOf(value)
    .map(({ name }) => `${toShown(toShortName({ ...resource, name }))}\n`)
    .join('');

interface TableOptions {
  readonly now: Date;
  readonly at: string | undefined;
  readonly isEverywhere: boolean;
  readonly screen: Session['screen'];
}

function toTable(value: JsonValue, { now, at, isEverywhere, screen }: TableOptions): string {
  const then = at === undefined || /^\d+$/.test(at) ? now : new Date(at);
  const namespace = { heading: 'NAMESPACE', text: (item: Item) => item.namespace };
  const columns = [
    ...(isEverywhere ? [namespace] : []),
    { heading: 'NAME', text: (item: Item) => item.name, style: () => 'bold' as const },
    { heading: then === now ? 'AGE' : 'AGE THEN', text: (item: Item) => toAge(item.created, then) },
  ];
  return toColumns(itemsOf(value), columns, { paint: screen.paint, width: screen.columns });
}
