import type { ObjectMeta } from '../../api/object-meta.ts';
import type { FieldError } from '../../api/status.ts';
import { eachInvalid } from '../../object/field-errors.ts';
import { checkQualifiedName } from '../../object/formats.ts';
import { part } from '../../object/parts.ts';
import { validateLabels } from '../../registry/validate-metadata.ts';
import { age } from '../cells.ts';
import { column, define, nameColumn } from '../define.ts';
import { validateImmutableField } from '../validation/immutable.ts';
import { validateClaimSpec } from './validate-claim.ts';
import { defaultRequests } from './validate-requests.ts';

export const resourceclaimtemplates = define({
  group: 'resource.k8s.io',
  resource: 'resourceclaimtemplates',
  kind: 'ResourceClaimTemplate',
  namespaced: true,
  versions: [
    { version: 'v1alpha3', type: 'resource/v1alpha3.ResourceClaimTemplate', enabledByDefault: false },
  ],
  table: {
    columns: [nameColumn(), column('Age')],
    cells: (template, now) => [template.metadata.name ?? '', age(template, now)],
  },
  strategy: {
    nameRule: 'dns-subdomain',
    tracksGeneration: false,
    allowCreateOnUpdate: false,
    allowUnconditionalUpdate: true,
    returnsDeletedObject: true,
    defaults: (template) => defaultRequests(part(template, 'spec', 'spec', 'devices')),
    validate: (template) => [
      ...validateTemplateMeta(part(template, 'spec', 'metadata'), 'spec.metadata'),
      ...validateClaimSpec(part(template, 'spec', 'spec'), 'spec.spec'),
    ],
    validateUpdate: (template, old) => validateImmutableField('spec', template.spec, old.spec),
  },
});

/** Labels and annotations of the claims to be. */
function validateTemplateMeta(meta: ObjectMeta, path: string): FieldError[] {
  return [
    ...validateLabels(meta.labels, `${path}.labels`),
    ...Object.keys(meta.annotations ?? {}).flatMap((key) =>
      eachInvalid(`${path}.annotations`, key, checkQualifiedName(key.toLowerCase())),
    ),
  ];
}
