import type { IngressClass, IngressClassParametersReference } from '../../api/types/networking/v1.ts';
import type { FieldPath } from '../../object/field-path.ts';
import type { Cell } from '../../registry/resource-definition.ts';
import { age, NONE } from '../cells.ts';
import { column, define, nameColumn } from '../define.ts';
import { checked } from '../rules/checked.ts';
import { mustBeName } from '../rules/name-rules.ts';

const COLUMNS = [nameColumn(), column('Controller'), column('Parameters'), column('Age')];

const cells = (ingressClass: IngressClass, now: number, mark = ''): readonly Cell[] => [
  `${ingressClass.metadata.name ?? ''}${mark}`,
  ingressClass.spec?.controller ?? '',
  parametersText(ingressClass),
  age(ingressClass, now),
];

const isDefault = ({ metadata }: IngressClass): boolean =>
  metadata.annotations?.['ingressclass.kubernetes.io/is-default-class'] === 'true';

export const ingressclasses = define<IngressClass>({
  group: 'networking.k8s.io',
  resource: 'ingressclasses',
  kind: 'IngressClass',
  namespaced: false,
  versions: [{ version: 'v1', type: 'networking/v1.IngressClass' }],
  table: { columns: COLUMNS, cells: (one, now) => cells(one, now, isDefault(one) ? ' (default)' : '') },
  olderTables: [{ until: 36, columns: COLUMNS, cells }],
  strategy: {
    tracksGeneration: true,
    validate: checked(validate),
  },
});

function parametersText({ spec }: IngressClass): string {
  if (spec?.parameters === undefined) return NONE;
  const { kind = '', apiGroup, name = '' } = spec.parameters;
  return `${kind}${apiGroup === undefined ? '' : `.${apiGroup}`}/${name}`;
}

function validate(root: FieldPath, { spec = {} }: IngressClass): void {
  const at = root.field('spec');
  validateController(at.field('controller'), spec.controller ?? '');
  if (spec.parameters !== undefined) validateParameters(at.field('parameters'), spec.parameters);
}

const MAX_CONTROLLER_BYTES = 250;
/** Characters that RFC 3986 allows in a path. */
const PATH_FORMAT = "[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+";
const PATH = new RegExp(`^${PATH_FORMAT}$`);

/** `acme.io/foo` */
function validateController(at: FieldPath, controller: string): void {
  if (controller === '') {
    at.required();
    return;
  }
  if (Buffer.byteLength(controller) > MAX_CONTROLLER_BYTES) at.tooLong(MAX_CONTROLLER_BYTES);
  const slash = controller.indexOf('/');
  const host = controller.slice(0, Math.max(slash, 0));
  const path = controller.slice(slash + 1);
  if (host === '' || path === '') {
    at.invalid(controller, 'must be a domain-prefixed path (such as "acme.io/foo")');
    return;
  }
  mustBeName(at, host, 'dns-subdomain');
  if (!PATH.test(path)) at.invalid(path, `Invalid path (regex used for validation is '${PATH_FORMAT}')`);
}

function validateParameters(at: FieldPath, parameters: IngressClassParametersReference): void {
  const { scope = '', namespace } = parameters;
  const path = at.field('namespace');
  validateObjectReference(at, parameters);
  if (scope === '') at.field('scope').required();
  else if (scope === 'Cluster') {
    if (namespace !== undefined) path.forbidden("`parameters.scope` is set to 'Cluster'");
  } else if (scope !== 'Namespace') at.field('scope').notSupported(scope, ['Cluster', 'Namespace']);
  else if (namespace === undefined) path.required("`parameters.scope` is set to 'Namespace'");
  else mustBeName(path, namespace, 'dns-label');
}

interface Reference {
  readonly apiGroup?: string;
  readonly kind?: string;
  readonly name?: string;
}

/** An object of any kind, in the same namespace or in none. */
export function validateObjectReference(at: FieldPath, reference: Reference): void {
  const { apiGroup } = reference;
  if (apiGroup !== undefined) mustBeName(at.field('apiGroup'), apiGroup, 'dns-subdomain');
  for (const field of ['kind', 'name'] as const) {
    const value = reference[field] ?? '';
    if (value === '') at.field(field).required(`${field} is required`);
    else mustBeName(at.field(field), value, 'path-segment');
  }
}
