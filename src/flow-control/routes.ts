import { MANDATORY } from './bootstrap/objects.ts';
import { bySchemaOrder, type FlowSchema, parseFlowSchema } from './config/flow-schema.ts';
import type { Classification, FlowRequest } from './flow-control.ts';
import { createMatcher, type Matcher } from './match.ts';
import type { FlowMetrics, FlowRecorder } from './metrics.ts';
import type { Level } from './seats/level.ts';

/** A flow schema with everything that its requests need on their way, looked up once. */
export interface Route {
  readonly schema: FlowSchema;
  readonly level: Level;
  readonly matches: Matcher;
  readonly classification: Classification;
  readonly recorder: FlowRecorder;
}

const MANDATORY_SCHEMAS = MANDATORY.schemas.map(parseFlowSchema);

/**
 * Schemas in the order in which they are tried. One whose level does not exist is left out; the mandatory ones are there
 * even before their objects are. The last one takes what no other wants.
 */
export function createRoutes(
  schemas: readonly FlowSchema[],
  levels: ReadonlyMap<string, Level>,
  metrics: FlowMetrics,
): Route[] {
  const usable = schemas.filter(({ level }) => levels.has(level)).sort(bySchemaOrder);
  const named = (wanted: string): boolean => usable.some(({ name }) => name === wanted);
  const [exempt, catchAll] = MANDATORY_SCHEMAS;
  const all = [
    ...(exempt === undefined || named(exempt.name) ? [] : [exempt]),
    ...usable,
    ...(catchAll === undefined || named(catchAll.name) ? [] : [catchAll]),
  ];
  return all.flatMap((schema) => {
    const level = levels.get(schema.level);
    return level === undefined ? [] : [toRoute(schema, level, metrics)];
  });
}

const toRoute = (schema: FlowSchema, level: Level, metrics: FlowMetrics): Route => ({
  schema,
  level,
  matches: createMatcher(schema),
  classification: { schemaUid: schema.uid, levelUid: level.config.uid },
  recorder: metrics.flow(level.config.name, schema.name),
});

/** The first that matches; the catch-all where none does, which happens only to callers of no known group. */
export function findRoute(routes: readonly Route[], request: FlowRequest): Route {
  for (const route of routes) if (route.matches(request)) return route;
  const last = routes.findLast(({ schema }) => schema.name === 'catch-all') ?? routes.at(-1);
  if (last === undefined) throw new Error('there are no flow schemas');
  return last;
}

/** What tells the request's flow from others of its schema. Only queues need to know. */
export function distinguish({ schema, level }: Route, { user, target }: FlowRequest): string {
  if (schema.distinguisher === undefined || (level.config.queuing?.queues ?? 0) <= 1) return '';
  return schema.distinguisher === 'ByUser' ? user.username : (target?.namespace ?? '');
}
