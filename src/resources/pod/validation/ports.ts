import type { Container, ContainerPort } from '../../../api/types/core/v1.ts';
import type { FieldPath } from '../../../object/field-path.ts';
import { checkPort, checkPortName } from '../../../object/text-formats.ts';

export function validatePorts(at: FieldPath, ports: readonly ContainerPort[] | undefined): void {
  const names = new Set<string>();
  for (const [path, { name = '', containerPort = 0, hostPort = 0 }] of at.each(ports)) {
    if (name !== '') validatePortName(path.field('name'), name, names);
    if (containerPort === 0) path.field('containerPort').required();
    else path.field('containerPort').invalidFor(containerPort, checkPort(containerPort));
    if (hostPort !== 0) path.field('hostPort').invalidFor(hostPort, checkPort(hostPort));
  }
}

function validatePortName(at: FieldPath, name: string, names: Set<string>): void {
  const problems = checkPortName(name);
  if (problems.length > 0) at.invalidFor(name, problems);
  else if (names.has(name)) at.duplicate(name);
  else names.add(name);
}

/** Two containers of a pod cannot take the same port of the node. `at` is the list of containers. */
export function validateHostPorts(at: FieldPath, containers: readonly Container[]): void {
  const taken = new Set<string>();
  for (const [container, { ports }] of at.each(containers))
    for (const [port, { protocol = '', hostIP = '', hostPort = 0 }] of container.field('ports').each(ports)) {
      if (hostPort === 0) continue;
      const place = `${protocol}/${hostIP}/${hostPort}`;
      if (taken.has(place)) port.field('hostPort').duplicate(place);
      taken.add(place);
    }
}

/** With host networking a container's port is the node's. Templates may leave the host port to their pods. */
export function validateHostNetworkPorts(
  at: FieldPath,
  containers: readonly Container[],
  isPod: boolean,
): void {
  for (const [container, { ports }] of at.each(containers))
    for (const [port, { hostPort = 0, containerPort = 0 }] of container.field('ports').each(ports)) {
      if ((!isPod && hostPort === 0) || hostPort === containerPort) continue;
      port.field('hostPort').invalid(hostPort, 'must match `containerPort` when `hostNetwork` is true');
    }
}

/** A port of a probe or a service: its number, or the name it has. */
export function mustBePortOrName(at: FieldPath, port: number | string = 0): void {
  at.invalidFor(port, typeof port === 'string' ? checkPortName(port) : checkPort(port));
}
