import { toQualifiedResource } from '../../api/names.ts';
import { getOrAdd } from '../../util/get-or-add.ts';
import { noteEmpty } from '../absence.ts';
import type { CommandArguments } from '../arguments.ts';
import type { Revision } from '../history-types.ts';
import { toShortName } from '../named-object.ts';
import { isDocument, readFormat, toDocument, toList } from '../output-format.ts';
import { type Column, toColumns } from '../printed-columns.ts';
import { readScope, type Scope } from '../scope.ts';
import type { Command, Session } from '../session.ts';
import { toShown } from '../shown-text.ts';
import { toAge } from '../write-texts.ts';

export const who: Command = {
  name: 'who',
  usage: '[TYPE/NAME | TYPE]',
  summary: 'who changed how much of what; people first, then the cluster itself',
  takes: ['since', 'until', 'allNamespaces', 'by', 'manager', 'verb', 'limit', 'output'],
  formats: ['json', 'yaml', 'wide', 'name'],
  examples: [
    ['who -A --since 1h', 'everybody who changed something in the last hour'],
    ['who deploy/web', 'who ever changed a deployment'],
    ['who secrets -n shop --verb delete', 'who deletes secrets there'],
  ],
  fields: { since: '--since', until: '--until' },
  run,
};

interface Writer {
  readonly user: string;
  readonly manager: string;
  readonly last: string | undefined;
  changes: number;
  /** The number of changes per object. */
  readonly objects: Map<string, number>;
  /** Object names by resource. */
  readonly kinds: Map<string, Set<string>>;
  readonly addresses: Set<string>;
  readonly agents: Set<string>;
}

async function run(session: Session, args: CommandArguments): Promise<number> {
  const { screen } = session;
  const format = readFormat(who, args);
  const open = await session.open();
  const scope = await readScope(session, open, args);
  const writers = new Map<string, Writer>();
  for await (const { items } of open.history.pages(scope.query))
    for (const item of items) count(writers, item, scope);
  const sorted = [...writers.values()].sort((a, b) => Number(isOfCluster(a)) - Number(isOfCluster(b)));
  if (isDocument(format)) {
    await screen.write(toDocument(format, toList('WriterList', sorted.map(toItem)), screen));
    return 0;
  }
  if (format === 'name') {
    const users = new Set(sorted.map(({ user }) => toShown(user)));
    await screen.write([...users].map((user) => `${user}\n`).join(''));
    return 0;
  }
  if (sorted.length === 0) await noteEmpty(session, open.history, scope);
  else {
    screen.usePager();
    await screen.write(
      toColumns(sorted, columns(session.now, format === 'wide'), {
        paint: screen.paint,
        width: screen.columns,
      }),
    );
  }
  return 0;
}

const isOfCluster = ({ user }: Writer): boolean => user.startsWith('system:');

/** Revisions come newest first, so that the first of a writer is its latest. */
function count(writers: Map<string, Writer>, revision: Revision, scope: Scope): void {
  const { user = '', manager = '', at, object = {}, sourceAddress, userAgent } = revision;
  const key = JSON.stringify([user, manager]);
  const writer = getOrAdd(writers, key, () => ({
    user,
    manager,
    last: at,
    changes: 0,
    objects: new Map(),
    kinds: new Map(),
    addresses: new Set(),
    agents: new Set(),
  }));
  const isElsewhere = scope.namespace === undefined && object.namespace;
  const name = `${toShortName(object)}${isElsewhere ? ` in ${object.namespace}` : ''}`;
  writer.changes += 1;
  writer.objects.set(name, (writer.objects.get(name) ?? 0) + 1);
  const kind = toQualifiedResource({ group: object.group ?? '', resource: object.resource ?? '' });
  writer.kinds.set(kind, (writer.kinds.get(kind) ?? new Set()).add(name));
  if (sourceAddress) writer.addresses.add(sourceAddress);
  if (userAgent) writer.agents.add(userAgent);
}

const toItem = ({ user, manager, changes, last, objects, addresses, agents }: Writer): object => ({
  ...{ user, manager, changes, last },
  objects: [...objects].map(([name, times]) => ({ name, changes: times })),
  addresses: [...addresses],
  userAgents: [...agents],
});

const MOST_NAMES = 3;
const MOST_KINDS = 4;

/** The names of a few objects, or else the number of each kind. */
function toObjects({ objects, kinds }: Writer, isWide: boolean): string {
  if (isWide || objects.size <= MOST_NAMES) {
    return [...objects].map(([name, times]) => (times === 1 ? name : `${name} (${times})`)).join(', ');
  }
  const sorted = [...kinds].sort(([, a], [, b]) => b.size - a.size);
  const shown = sorted
    .slice(0, MOST_KINDS)
    .map(([kind, names]) => (names.size === 1 ? [...names].join('') : `${names.size} ${kind}`));
  const left = sorted.slice(MOST_KINDS).reduce((sum, [, names]) => sum + names.size, 0);
  return shown.join(', ') + (left > 0 ? ` and ${left} more` : '');
}

function columns(now: Date, isWide: boolean): Column<Writer>[] {
  const more: Column<Writer>[] = [
    { heading: 'ADDRESSES', text: ({ addresses }) => [...addresses].join(',') },
    { heading: 'USER AGENTS', text: ({ agents }) => [...agents].join(',') },
  ];
  return [
    { heading: 'USER', text: ({ user }) => user, style: () => 'cyan', most: 40, keeps: 'end' },
    { heading: 'MANAGER', text: ({ manager }) => manager, most: 30 },
    { heading: 'CHANGES', text: ({ changes }) => String(changes), isRight: true },
    { heading: 'LAST', text: ({ last }) => toAge(last, now) },
    ...(isWide ? more : []),
    {
      heading: 'OBJECTS',
      text: (writer) => toObjects(writer, isWide),
    },
  ];
}
