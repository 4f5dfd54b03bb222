import type { ServicePort, ServiceSpec } from '../../../api/types/core/v1.ts';
import type { FieldPath } from '../../../object/field-path.ts';
import { checkPort, checkPortName, checkQualifiedName } from '../../../object/formats.ts';
import { goServicePort } from '../../rules/go-structs.ts';
import { mustBeName, UniqueNames } from '../../rules/names.ts';
import { typeOf } from './kind.ts';

export function validatePorts(at: FieldPath, spec: ServiceSpec): void {
  const { ports = [] } = spec;
  const names = new UniqueNames();
  for (const [path, port] of at.each(ports)) {
    const { name = '' } = port;
    if (name !== '') {
      mustBeName(path.field('name'), name, 'dns-label');
      names.add(path.field('name'), name);
    } else if (ports.length > 1) path.field('name').required();
    validatePort(path, port);
  }
  if (typeOf(spec) === 'ClusterIP') mustHaveNoNodePorts(at, ports);
  mustBeDistinct(at, ports);
}

function validatePort(at: FieldPath, { port = 0, targetPort = 0, appProtocol }: ServicePort): void {
  at.field('port').invalidFor(port, checkPort(port));
  at.field('targetPort').invalidFor(
    targetPort,
    typeof targetPort === 'string' ? checkPortName(targetPort) : checkPort(targetPort),
  );
  if (appProtocol !== undefined)
    at.field('appProtocol').invalidFor(appProtocol, checkQualifiedName(appProtocol));
}

function mustHaveNoNodePorts(at: FieldPath, ports: readonly ServicePort[]): void {
  for (const [path, { nodePort = 0 }] of at.each(ports))
    if (nodePort !== 0) path.field('nodePort').forbidden("may not be used when `type` is 'ClusterIP'");
}

/** A number may be used once for each protocol. */
function mustBeDistinct(at: FieldPath, ports: readonly ServicePort[]): void {
  const seen = new Set<string>();
  for (const [path, { protocol = '', port = 0, nodePort = 0 }] of at.each(ports)) {
    const nodeKey = `node ${protocol} ${nodePort}`;
    const key = `${protocol} ${port}`;
    if (nodePort !== 0 && seen.has(nodeKey)) path.field('nodePort').duplicate(nodePort);
    if (seen.has(key)) path.duplicate(goServicePort({ protocol, port }));
    seen.add(nodeKey).add(key);
  }
}
