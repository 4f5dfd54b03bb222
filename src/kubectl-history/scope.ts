import { toQualifiedResource } from '../api/names.ts';
import type { CommandArguments } from './arguments.ts';
import type { RevisionsQuery } from './history-client.ts';
import { parsePointInTime } from './moment.ts';
import { type Named, readNamed } from './named-object.ts';
import type { OpenSession, Session } from './session.ts';
import { UsageError } from './usage-error.ts';

/** The objects that a list of revisions covers: one object, a type, a namespace, everything. */
export interface Scope {
  readonly named: Named | undefined;
  /** Undefined: all namespaces, or a cluster-scoped type. */
  readonly namespace: string | undefined;
  readonly query: RevisionsQuery;
  /** All revisions are of one object, whose name need not be repeated. */
  readonly isOneObject: boolean;
}

/** @throws UsageError */
export async function readScope(session: Session, open: OpenSession, args: CommandArguments): Promise<Scope> {
  const named = await readNamed(args.words, open.resources);
  const isEverywhere = args.has('allNamespaces') || named?.resource.isNamespaced === false;
  const namespace = isEverywhere ? undefined : open.cluster.namespace;
  const fields = {
    'object.resource': named && toQualifiedResource(named.resource),
    'object.namespace': namespace,
    'object.name': named?.name,
    user: args.text('by'),
    manager: args.text('manager'),
    verb: args.text('verb'),
  };
  const query = {
    fields,
    since: pointInTime(session, args, 'since'),
    until: pointInTime(session, args, 'until'),
    limit: args.count('limit'),
  };
  const isOneObject = named?.name !== undefined && (namespace !== undefined || !named.resource.isNamespaced);
  return { named, namespace, query, isOneObject };
}

/** Converts to the server's format. @throws UsageError */
export function pointInTime(
  { now }: Session,
  args: CommandArguments,
  key: 'since' | 'until' | 'at' | 'from' | 'to',
): string | undefined {
  const text = args.text(key);
  return text === undefined ? undefined : parsePointInTime(`--${key}`, text, now).text;
}

/** @throws UsageError */
export function revisionNumber(args: CommandArguments): string | undefined {
  const text = args.text('revision');
  if (text === undefined || /^[1-9]\d{0,18}$/.test(text)) return text;
  throw new UsageError(
    `--revision: ${JSON.stringify(text)} is no number of a revision; kubectl history log shows them`,
  );
}
