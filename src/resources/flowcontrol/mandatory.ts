import type { ApiObject, JsonObject } from '../../api/object-meta.ts';
import type { FieldError } from '../../api/status.ts';
import { equal, equalExcept } from '../../object/equality.ts';
import { invalidValue } from '../../object/field-errors.ts';
import { part } from '../../object/parts.ts';

/**
 * The objects that keep a cluster reachable whatever else is configured: requests of administrators are never queued, and
 * every request finds a schema. They may be written only as they are (apiserver, apis/flowcontrol/bootstrap).
 */

const everything = (...groups: readonly string[]): JsonObject[] => [
  {
    subjects: groups.map((name) => ({ kind: 'Group', group: { name } })),
    resourceRules: [
      { verbs: ['*'], apiGroups: ['*'], resources: ['*'], clusterScope: true, namespaces: ['*'] },
    ],
    nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
  },
];

const SCHEMAS: ReadonlyMap<string, JsonObject> = new Map([
  [
    'exempt',
    {
      priorityLevelConfiguration: { name: 'exempt' },
      matchingPrecedence: 1,
      rules: everything('system:masters'),
    },
  ],
  [
    'catch-all',
    {
      priorityLevelConfiguration: { name: 'catch-all' },
      matchingPrecedence: 10000,
      distinguisherMethod: { type: 'ByUser' },
      rules: everything('system:unauthenticated', 'system:authenticated'),
    },
  ],
]);

const CATCH_ALL_LEVEL: JsonObject = {
  type: 'Limited',
  limited: { nominalConcurrencyShares: 5, limitResponse: { type: 'Reject' }, lendablePercent: 0 },
};

export function validateMandatorySchema({ metadata, spec }: ApiObject): FieldError[] {
  const fixed = SCHEMAS.get(metadata.name ?? '');
  return fixed === undefined || equal(spec, fixed)
    ? []
    : [invalidValue('spec', spec, `spec of '${metadata.name}' must equal the fixed value`)];
}

export function validateMandatoryLevel(level: ApiObject): FieldError[] {
  const { name } = level.metadata;
  if (name === 'exempt' && !equalExcept(part(level, 'spec'), { type: 'Exempt' }, ['exempt'])) {
    const why = "spec of 'exempt' except the 'spec.exempt' field must equal the fixed value";
    return [invalidValue('spec', level.spec, why)];
  }
  return name === 'catch-all' && !equal(level.spec, CATCH_ALL_LEVEL)
    ? [invalidValue('spec', level.spec, "spec of 'catch-all' must equal the fixed value")]
    : [];
}
