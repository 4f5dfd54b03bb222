import type { IPAddress } from '../../api/types/networking/v1beta1.ts';
import type { FieldPath } from '../../object/field-path.ts';
import { readStrictIp } from '../../object/ip.ts';
import { NONE } from '../cells.ts';
import { column, define, nameColumn } from '../define.ts';
import { checked, checkedUpdate } from '../rules/checked.ts';
import { goParentReference } from '../rules/go-structs.ts';
import { mustNotChange } from '../rules/immutable.ts';
import { mustBeCanonicalIp } from '../rules/ip-rules.ts';
import { mustBeName, mustBeNamed } from '../rules/name-rules.ts';

export const ipaddresses = define<IPAddress>({
  group: 'networking.k8s.io',
  resource: 'ipaddresses',
  kind: 'IPAddress',
  namespaced: false,
  shortNames: ['ip'],
  versions: [
    { version: 'v1', type: 'networking/v1.IPAddress', since: 33 },
    { version: 'v1beta1', type: 'networking/v1beta1.IPAddress', enabledByDefault: false },
  ],
  storedVersion: 'v1beta1',
  table: {
    columns: [nameColumn(), column('ParentRef')],
    cells: (ipAddress) => [ipAddress.metadata.name ?? '', parentText(ipAddress)],
  },
  strategy: {
    nameRule: 'path-segment',
    validate: checked(validate),
    validateUpdate: checkedUpdate((at, { spec }, old) =>
      mustNotChange(
        at.field('spec').field('parentRef'),
        spec?.parentRef,
        old.spec?.parentRef,
        goParentReference,
      ),
    ),
  },
});

/** `services/default/web`, `routes.example.com/gateway` */
function parentText({ spec }: IPAddress): string {
  if (spec?.parentRef === undefined) return NONE;
  const { group = '', resource = '', namespace = '', name = '' } = spec.parentRef;
  const type = [resource, group].filter((one) => one !== '').join('.');
  return [type.toLowerCase(), ...(namespace === '' ? [] : [namespace]), name].join('/');
}

/** The name is the address: it cannot be given out twice. */
function validate(at: FieldPath, { metadata, spec }: IPAddress): void {
  mustBeAddress(at.field('metadata').field('name'), metadata.name ?? '');
  validateParent(at.field('spec').field('parentRef'), spec?.parentRef);
}

function mustBeAddress(at: FieldPath, name: string): void {
  if (name === '') return;
  if (at.minor >= 33) {
    mustBeCanonicalIp(at, name);
    return;
  }
  const reading = readStrictIp(name);
  if (reading.kind === 'bad') at.invalid(name, reading.why);
  else if (reading.canonical !== name) at.invalid(name, 'must be a canonical format IP address');
}

type Parent = NonNullable<NonNullable<IPAddress['spec']>['parentRef']>;

function validateParent(at: FieldPath, parent: Parent | undefined): void {
  if (parent === undefined) {
    at.required();
    return;
  }
  const { group = '', resource = '', name = '', namespace = '' } = parent;
  // The group of services is the empty one.
  if (group !== '') mustBeName(at.field('group'), group, 'dns-subdomain');
  mustBeNamed(at.field('resource'), resource, 'path-segment');
  mustBeNamed(at.field('name'), name, 'path-segment');
  if (namespace !== '') mustBeName(at.field('namespace'), namespace, 'path-segment');
}
