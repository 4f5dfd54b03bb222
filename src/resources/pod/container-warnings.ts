import type { ContainerPort, EnvVar, PodSpec } from '../../api/types/core/v1.ts';
import { MAX_PROBLEMS } from '../../object/document-limits.ts';
import type { FieldPath } from '../../object/field-path.ts';
import { containersOf } from './containers-of.ts';

/** A variable may be defined again to extend itself, `PATH=$(PATH):/more`; otherwise it hides the earlier one. */
export function addEnvWarnings(said: string[], at: FieldPath, variables: readonly EnvVar[]): void {
  if (variables.length < 2) return;
  const seen = new Set<string>();
  for (const [path, variable] of at.each(variables)) {
    const { name = '' } = variable;
    if (seen.has(name) && !extendsItself(variable, `$(${name})`))
      said.push(`${path}: hides previous definition of "${name}", which may be dropped when using apply`);
    seen.add(name);
  }
}

const extendsItself = ({ value = '', valueFrom }: EnvVar, itself: string): boolean =>
  valueFrom === undefined && value !== itself && value.includes(itself);

interface Port {
  readonly at: FieldPath;
  readonly hostIp: string;
  readonly hostPort: number;
}

/**
 * Warns about ports that containers declare twice. `at`: the pod spec. Each pair of ports is a warning: 16,000 ports of one
 * number would make 128 million, so that each port is only compared with the first {@link MAX_PROBLEMS} of its number, and the
 * warnings are limited to what a response can contain.
 */
export function addPortWarnings(said: string[], at: FieldPath, spec: PodSpec): void {
  const known = new Map<string, Port[]>();
  for (const { container, at: path } of containersOf(spec, at))
    for (const [item, port] of path.field('ports').each(container.ports))
      addPortWarning(said, item, port, known);
}

/** Warns about names of ports that containers declare twice. `at`: the pod spec. */
export function addPortNameWarnings(said: string[], at: FieldPath, spec: PodSpec): void {
  const known = new Map<string, FieldPath>();
  for (const { container, at: path } of containersOf(spec, at))
    for (const [item, { name = '' }] of path.field('ports').each(container.ports)) {
      const first = known.get(name);
      if (name === '' || said.length >= MAX_PROBLEMS) continue;
      if (first === undefined) known.set(name, item);
      else
        said.push(
          `${item}: duplicate port name ${JSON.stringify(name)} with ${first}, services and probes that select ports by name will use ${first}`,
        );
    }
}

function addPortWarning(
  said: string[],
  at: FieldPath,
  given: ContainerPort,
  known: Map<string, Port[]>,
): void {
  const { hostIP: hostIp = '', hostPort = 0, containerPort = 0, protocol = '' } = given;
  const port = { at, hostIp, hostPort };
  if (hostIp !== '' && hostPort === 0) said.push(`${at}: hostIP set without hostPort: ${describe(given)}`);
  const key = `${containerPort}/${protocol}`;
  const others = known.get(key);
  if (others === undefined) {
    known.set(key, [port]);
    return;
  }
  for (const other of others) {
    if (said.length >= MAX_PROBLEMS) return;
    const clash = clashOf(port, other);
    if (clash !== undefined) said.push(`${at}: ${clash} port definition with ${other.at}`);
  }
  if (others.length < MAX_PROBLEMS) others.push(port);
}

function clashOf(port: Port, other: Port): string | undefined {
  if (port.hostIp === other.hostIp && port.hostPort === other.hostPort) return 'duplicate';
  if (port.hostPort === 0 || other.hostPort === 0) return 'overlapping';
  const isOneForAll = (port.hostIp === '') !== (other.hostIp === '');
  return port.hostPort === other.hostPort && isOneForAll ? 'dangerously ambiguous' : undefined;
}

/** As Go prints the struct. */
function describe(port: ContainerPort): string {
  const { name = '', hostPort = 0, containerPort = 0, protocol = '', hostIP = '' } = port;
  return `{Name:${name} HostPort:${hostPort} ContainerPort:${containerPort} Protocol:${protocol} HostIP:${hostIP}}`;
}
