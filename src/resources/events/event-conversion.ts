import type { ApiObject, JsonObject, JsonValue } from '../../api/object-meta.ts';
import type { Conversion } from '../../registry/definition.ts';

/** Fields of the core Event and what events.k8s.io/v1 calls them. Fields not named here have the same name in both. */
const RENAMED: readonly (readonly [core: string, v1: string])[] = [
  ['involvedObject', 'regarding'],
  ['message', 'note'],
  ['source', 'deprecatedSource'],
  ['firstTimestamp', 'deprecatedFirstTimestamp'],
  ['lastTimestamp', 'deprecatedLastTimestamp'],
  ['count', 'deprecatedCount'],
  ['reportingComponent', 'reportingController'],
];

/** events.k8s.io/v1 on the storage of core events. */
export const eventV1: Conversion = {
  toStorage: (event) => rename(event, 'v1', new Map(RENAMED.map(([core, v1]) => [v1, core])), CORE_ALWAYS),
  fromStorage: (event) => rename(event, 'events.k8s.io/v1', new Map(RENAMED), V1_ALWAYS),
};

/** What each form writes even when it is absent. */
const CORE_ALWAYS: JsonObject = {
  involvedObject: {},
  source: {},
  firstTimestamp: null,
  lastTimestamp: null,
  eventTime: null,
  reportingComponent: '',
  reportingInstance: '',
};
const V1_ALWAYS: JsonObject = {
  eventTime: null,
  regarding: {},
  deprecatedSource: {},
  deprecatedFirstTimestamp: null,
  deprecatedLastTimestamp: null,
};

function rename(
  event: ApiObject,
  apiVersion: string,
  names: ReadonlyMap<string, string>,
  always: JsonObject,
): ApiObject {
  const { kind, apiVersion: _, metadata, ...rest } = event;
  const out: JsonObject = { ...always };
  for (const [name, value] of Object.entries(rest) as [string, JsonValue | undefined][]) {
    out[names.get(name) ?? name] = value;
  }
  return { kind, apiVersion, metadata, ...out };
}
