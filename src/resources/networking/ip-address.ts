import type { ApiObject } from '../../api/object-meta.ts';
import { part, text } from '../../object/parts.ts';
import type { Cell } from '../../registry/definition.ts';
import { NONE } from '../cells.ts';
import { column, define, nameColumn } from '../define.ts';
import { validateIpAddress, validateIpAddressUpdate } from './validation/ip-address.ts';

export const ipaddresses = define({
  group: 'networking.k8s.io',
  resource: 'ipaddresses',
  kind: 'IPAddress',
  namespaced: false,
  shortNames: ['ip'],
  versions: [{ version: 'v1beta1', type: 'networking/v1beta1.IPAddress', enabledByDefault: false }],
  table: {
    columns: [nameColumn(), column('ParentRef')],
    cells: (ipAddress) => [ipAddress.metadata.name ?? '', parentText(ipAddress)],
  },
  strategy: {
    nameRule: 'path-segment',
    tracksGeneration: false,
    allowCreateOnUpdate: false,
    allowUnconditionalUpdate: true,
    validate: validateIpAddress,
    validateUpdate: validateIpAddressUpdate,
  },
});

/** `services/default/web`, `routes.example.com/gateway` */
function parentText(ipAddress: ApiObject): Cell {
  const spec = part(ipAddress, 'spec');
  if (spec.parentRef === undefined) return NONE;
  const { group, resource, namespace, name } = part(spec, 'parentRef');
  const type = [text(resource), text(group)].filter((one) => one !== '').join('.');
  return [type.toLowerCase(), ...(text(namespace) === '' ? [] : [text(namespace)]), text(name)].join('/');
}
