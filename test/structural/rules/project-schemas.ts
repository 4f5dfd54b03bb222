import type { JSONSchemaProps } from '../../../src/api/types/apiextensions/v1.ts';

/** Schemas of the shapes that definitions of well-known projects have, for rules of the shapes that stand in these. */

type Schema = JSONSchemaProps;

const str = (maxLength?: number): Schema => ({
  type: 'string',
  ...(maxLength === undefined ? {} : { maxLength }),
});
const fmt = (format: string, maxLength?: number): Schema => ({ ...str(maxLength), format });
const int: Schema = { type: 'integer' };
const num: Schema = { type: 'number' };
const bool: Schema = { type: 'boolean' };
const list = (items: Schema, maxItems?: number, more: Schema = {}): Schema => ({
  type: 'array',
  items,
  ...(maxItems === undefined ? {} : { maxItems }),
  ...more,
});
const map = (values: Schema, maxProperties?: number): Schema => ({
  type: 'object',
  additionalProperties: values,
  ...(maxProperties === undefined ? {} : { maxProperties }),
});
const obj = (properties: Record<string, Schema>, ...required: string[]): Schema => ({
  type: 'object',
  properties,
  ...(required.length > 0 ? { required } : {}),
});
const ios: Schema = { 'x-kubernetes-int-or-string': true };
const any: Schema = { 'x-kubernetes-preserve-unknown-fields': true };

const listener: Schema = obj(
  {
    name: str(253),
    hostname: str(253),
    port: { type: 'integer', minimum: 1, maximum: 65535 },
    protocol: str(255),
    tls: obj({
      mode: { type: 'string', enum: ['Terminate', 'Passthrough'] },
      certificateRefs: list(
        obj({ group: str(253), kind: str(63), name: str(253), namespace: str(63) }, 'name'),
        64,
      ),
      options: map(str(4096), 16),
    }),
  },
  'name',
  'port',
  'protocol',
);
/** Listeners of a gateway (Gateway API). */
export const LISTENERS: Schema = list(listener, 64);
/** A gateway. */
export const GATEWAY: Schema = obj({
  listeners: LISTENERS,
  addresses: list(obj({ type: str(253), value: str(253) }), 16),
  gatewayClassName: str(253),
});
const parentRef: Schema = obj(
  { group: str(253), kind: str(63), name: str(253), namespace: str(63), sectionName: str(253), port: int },
  'name',
);
/** Gateways that a route belongs to. */
export const PARENTS: Schema = list(parentRef, 32);
const matchHeader: Schema = obj(
  { type: { type: 'string', enum: ['Exact', 'RegularExpression'] }, name: str(256), value: str(4096) },
  'name',
  'value',
);
const filter: Schema = obj(
  {
    type: {
      type: 'string',
      enum: ['RequestHeaderModifier', 'URLRewrite', 'RequestRedirect', 'ExtensionRef'],
    },
    requestRedirect: obj({
      path: obj({ type: str(30), replacePrefixMatch: str(1024), replaceFullPath: str(1024) }),
      port: int,
      statusCode: int,
    }),
    urlRewrite: obj({
      hostname: str(253),
      path: obj({ type: str(30), replacePrefixMatch: str(1024), replaceFullPath: str(1024) }),
    }),
  },
  'type',
);
/** A rule of a route: matches, filters and backends. */
export const HTTP_RULE: Schema = obj({
  name: str(253),
  matches: list(
    obj({
      path: obj({ type: str(30), value: str(1024) }),
      headers: list(matchHeader, 16),
      queryParams: list(matchHeader, 16),
      method: str(10),
    }),
    64,
  ),
  filters: list(filter, 16),
  backendRefs: list(obj({ name: str(253), port: int, weight: int, filters: list(filter, 16) }), 16),
  timeouts: obj({ request: str(), backendRequest: str() }),
});
/** The rules of a route. */
export const HTTP_RULES: Schema = list(HTTP_RULE, 16);
/** A match of a path. */
export const PATH_MATCH: Schema = obj({ type: str(30), value: str(1024) });
/** Durations as such, and as texts with and without a bound. */
export const DURATIONS: Schema = obj({
  request: fmt('duration'),
  backendRequest: fmt('duration'),
  text: str(10),
  any: str(),
});
/** Requirements of nodes (Karpenter). */
export const REQUIREMENTS: Schema = list(
  obj({ key: str(316), operator: str(20), values: list(str(), 100), minValues: int }, 'key', 'operator'),
  100,
);
/** The same without any bound. */
export const REQ_OPEN: Schema = list(
  obj({ key: str(), operator: str(), values: list(str()), minValues: int }, 'key', 'operator'),
);
/** Labels, bounded. */
export const LABELS: Schema = map(str(63), 100);
/** Labels without a bound. */
export const LABELS_OPEN: Schema = map(str());
/** A budget of disruptions. */
export const BUDGET: Schema = obj({
  nodes: str(10),
  schedule: str(),
  duration: str(),
  reasons: list(str(20), 50),
});
/** Terms that select subnets, groups and images. */
export const TERMS: Schema = list(
  obj({ tags: map(str(), 20), id: str(), name: str(), owner: str(), alias: str(60) }),
  30,
);
/** A certificate (cert-manager). */
export const CERT: Schema = obj({
  dnsNames: list(str()),
  ipAddresses: list(str(), 50),
  duration: str(),
  renewBefore: str(),
  commonName: str(64),
  secretName: str(),
  privateKey: obj({ algorithm: str(10), size: int }),
  revisionHistoryLimit: int,
});
/** A cluster (Cluster API). */
export const CLUSTER: Schema = obj({
  clusterNetwork: obj({
    pods: obj({ cidrBlocks: list(str(43), 100) }),
    services: obj({ cidrBlocks: list(str()) }),
    serviceDomain: str(253),
    apiServerPort: int,
  }),
  controlPlaneEndpoint: obj({ host: str(512), port: int }),
  paused: bool,
  topology: obj({
    version: str(256),
    class: str(253),
    variables: list(obj({ name: str(256), value: any }), 1000),
  }),
});
/** Conditions, a list with keys. */
export const CONDITIONS: Schema = list(
  obj(
    {
      type: str(316),
      status: { type: 'string', enum: ['True', 'False', 'Unknown'] },
      reason: str(1024),
      message: str(32768),
      lastTransitionTime: fmt('date-time'),
      observedGeneration: int,
    },
    'type',
    'status',
  ),
  32,
  { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['type'] },
);
/** Flavors of resources with quotas (Kueue). */
export const FLAVORS: Schema = list(
  obj(
    {
      name: str(),
      resources: list(
        obj({ name: str(), nominalQuota: ios, borrowingLimit: ios }, 'name', 'nominalQuota'),
        16,
      ),
    },
    'name',
    'resources',
  ),
  16,
);
/** Groups of resources. */
export const GROUPS: Schema = list(
  obj({ coveredResources: list(str(), 16), flavors: FLAVORS }, 'coveredResources', 'flavors'),
  16,
);
/** Sets of pods. */
export const PODSETS: Schema = list(
  obj({ name: str(63), count: int, minCount: int, labels: map(str(63), 10) }, 'name', 'count'),
  8,
);
/** A field of each type, bounded and unbounded. */
export const SPEC: Schema = obj(
  {
    a: list(int, 100),
    b: list(int),
    s: str(),
    t: str(100),
    f: num,
    i: int,
    on: bool,
    d: fmt('duration'),
    at: fmt('date-time'),
    data: fmt('byte', 1000),
    bytes: fmt('byte'),
    words: list(str(50), 10),
    texts: list(str()),
    sizes: map(int, 20),
    mt: map(str(30), 20),
    mo: map(obj({ x: str(10), n: int }), 10),
    open: map(str()),
    ios,
    iosl: list(ios, 10),
    q: str(20),
    ip: str(45),
    cidr: str(50),
    url: str(2048),
    when: list(fmt('date-time'), 5),
    ds: list(fmt('duration'), 5),
    nested: list(list(str(10), 5), 5),
    e: { type: 'string', enum: ['a', 'bb'] },
    n2: obj({ p: obj({ q: obj({ w: list(obj({ l: str(5), m: str(500), r: str() }), 10), z: str(7) }) }) }),
    doubles: list(num, 10),
    flags: list(bool, 10),
    raw: any,
    emb: {
      type: 'object',
      'x-kubernetes-embedded-resource': true,
      'x-kubernetes-preserve-unknown-fields': true,
    },
    'self-ref': str(5),
    namespace: str(9),
    min0: list(int, 0),
  },
  'i',
);
