import { noteEmpty } from '../absence.ts';
import type { CommandArguments } from '../arguments.ts';
import type { HistoryClient } from '../history-client.ts';
import type { Revision } from '../history-types.ts';
import { toShortName } from '../named-object.ts';
import { isDocument, readFormat, toDocument, toList } from '../output-format.ts';
import { type Column, toColumns } from '../printed-columns.ts';
import { readScope, type Scope } from '../scope.ts';
import { PLAIN } from '../screen.ts';
import type { Command, Session } from '../session.ts';
import { toShown } from '../shown-text.ts';
import { numberOf, toAge, toSentence } from '../write-texts.ts';

export const deleted: Command = {
  name: 'deleted',
  usage: '[TYPE/NAME | TYPE]',
  summary: 'what was deleted and is not there again',
  notes: [
    'Controllers mostly delete because of another change: -o wide shows who made that change, for the first fifty.',
  ],
  takes: ['since', 'until', 'allNamespaces', 'by', 'manager', 'limit', 'output'],
  formats: ['json', 'yaml', 'wide', 'name'],
  examples: [
    ['deleted', 'in this namespace, as far back as history goes'],
    ["deleted -A --since 'yesterday 14:00'", 'in the whole cluster since then'],
    ['deleted configmaps --by alice', 'config maps that alice deleted'],
  ],
  fields: { since: '--since', until: '--until' },
  run,
};

async function run(session: Session, args: CommandArguments): Promise<number> {
  const { screen, now } = session;
  const format = readFormat(deleted, args);
  const open = await session.open();
  const scope = await readScope(session, open, args);
  const gone = (await findGone(open.history, scope)).slice(0, scope.query.limit);
  if (isDocument(format)) await screen.write(toDocument(format, toList('RevisionList', gone), screen));
  else if (format === 'name')
    await screen.write(gone.map(({ object = {} }) => `${toShown(toShortName(object))}\n`).join(''));
  else if (gone.length === 0) {
    await noteEmpty(session, open.history, scope, 'Nothing that was deleted is still gone.');
  } else {
    const isWide = format === 'wide';
    const causes = isWide ? await findCauses(open.history, gone) : new Map();
    screen.usePager();
    await screen.write(
      toColumns(gone, columns({ now, scope, isWide, causes }), {
        paint: screen.paint,
        width: screen.columns,
      }),
    );
    if (screen.isTerminal) await screen.write(screen.paint('dim', `\n${hint(gone[0])}\n`));
  }
  return 0;
}

/** The last deletion of each object that was not created again. */
async function findGone(history: HistoryClient, { query }: Scope): Promise<readonly Revision[]> {
  const { fields, since, until } = query;
  // Another user may have created it again, at any time since.
  const later = { ...fields, user: undefined, manager: undefined };
  const deletions = await history.revisions({ fields: { ...fields, verb: 'delete' }, since, until });
  const [oldest] = deletions.slice(-1);
  if (oldest === undefined) return [];
  const creations = await history.revisions({
    fields: { ...later, verb: 'create' },
    since: numberOf(oldest),
  });
  const created = new Map<string, bigint>();
  for (const creation of creations) {
    const key = keyOf(creation);
    if (!created.has(key)) created.set(key, BigInt(creation.metadata?.name ?? 0));
  }
  const seen = new Set<string>();
  return deletions.filter((deletion) => {
    const key = keyOf(deletion);
    if (seen.has(key)) return false;
    seen.add(key);
    return (created.get(key) ?? 0n) < BigInt(deletion.metadata?.name ?? 0);
  });
}

const MOST_CAUSES = 50;
const AT_ONCE = 4;

/** Causes of deletions by controllers, by revision number. */
async function findCauses(
  history: HistoryClient,
  gone: readonly Revision[],
): Promise<ReadonlyMap<string, string>> {
  const waiting = gone.filter(({ user = '' }) => user.startsWith('system:')).slice(0, MOST_CAUSES);
  const causes = new Map<string, string>();
  const work = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const number = numberOf(next);
      const links = (await history.why(number)).links ?? [];
      const root = links.at(-1);
      if (root !== undefined && links.length > 1) causes.set(number, toSentence(root, PLAIN));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return causes;
}

const keyOf = ({ object: { group, resource, namespace, name } = {} }: Revision): string =>
  JSON.stringify([group ?? '', resource, namespace ?? '', name]);

interface DeletedColumns {
  readonly now: Date;
  readonly scope: Scope;
  readonly isWide: boolean;
  readonly causes: ReadonlyMap<string, string>;
}

function columns({ now, scope: { namespace, named }, isWide, causes }: DeletedColumns): Column<Revision>[] {
  const all: (Column<Revision> | undefined)[] = [
    namespace === undefined && named?.resource.isNamespaced !== false
      ? { heading: 'NAMESPACE', text: ({ object }) => object?.namespace ?? '' }
      : undefined,
    { heading: 'OBJECT', text: ({ object }) => toShortName(object ?? {}), style: () => 'bold', most: 60 },
    { heading: 'DELETED', text: ({ at }) => toAge(at, now) },
    { heading: 'REVISION', text: numberOf, style: () => 'yellow' },
    isWide ? { heading: 'UID', text: ({ object }) => object?.uid ?? '' } : undefined,
    isWide ? { heading: 'MANAGER', text: ({ manager }) => manager ?? '' } : undefined,
    isWide ? { heading: 'ADDRESS', text: ({ sourceAddress }) => sourceAddress ?? '' } : undefined,
    { heading: 'BY', text: ({ user }) => user ?? '', style: () => 'cyan', keeps: 'end', most: 40 },
    isWide ? { heading: 'BECAUSE', text: (deletion) => causes.get(numberOf(deletion)) ?? '' } : undefined,
  ];
  return all.filter((column) => column !== undefined);
}

function hint(revision: Revision | undefined): string {
  const { object = {} } = revision ?? {};
  const scope = object.namespace ? ` -n ${object.namespace}` : '';
  return toShown(`Bring one back: kubectl history restore ${toShortName(object)}${scope}`);
}
