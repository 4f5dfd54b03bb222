import type { JsonObject } from '../../api/object-meta.ts';
import { count, parts, text } from '../cells.ts';
import { containersOf } from './containers-of.ts';

/** A variable may be defined again to extend itself, `PATH=$(PATH):/more`; anything else hides what was there. */
export function envWarnings(container: JsonObject, path: string): string[] {
  const seen = new Set<string>();
  return parts(container, 'env').flatMap((variable, at) => {
    const name = text(variable.name);
    if (!seen.has(name)) {
      seen.add(name);
      return [];
    }
    const itself = `$(${name})`;
    const value = text(variable.value);
    const extendsItself = variable.valueFrom === undefined && value !== itself && value.includes(itself);
    if (extendsItself) return [];
    return [
      `${path}.env[${at}]: hides previous definition of "${name}", which may be dropped when using apply`,
    ];
  });
}

interface Port {
  readonly path: string;
  readonly hostIp: string;
  readonly hostPort: number;
}

/** Ports that two containers, or one of them twice, say they listen on. */
export function portWarnings(spec: JsonObject, path: string): string[] {
  const known = new Map<string, Port[]>();
  return containersOf(spec, path).flatMap(({ container, path: of }) =>
    parts(container, 'ports').flatMap((given, at) => {
      const port = {
        path: `${of}.ports[${at}]`,
        hostIp: text(given.hostIP),
        hostPort: count(given.hostPort),
      };
      const key = `${count(given.containerPort)}/${text(given.protocol)}`;
      const others = known.get(key) ?? [];
      known.set(key, [...others, port]);
      const unused = port.hostIp !== '' && port.hostPort === 0;
      return [
        ...(unused ? [`${port.path}: hostIP set without hostPort: ${describe(given)}`] : []),
        ...others.flatMap((other) => {
          const clash = clashOf(port, other);
          return clash === undefined ? [] : [`${port.path}: ${clash} port definition with ${other.path}`];
        }),
      ];
    }),
  );
}

function clashOf(port: Port, other: Port): string | undefined {
  if (port.hostIp === other.hostIp && port.hostPort === other.hostPort) return 'duplicate';
  if (port.hostPort === 0 || other.hostPort === 0) return 'overlapping';
  const oneAny = (port.hostIp === '') !== (other.hostIp === '');
  return port.hostPort === other.hostPort && oneAny ? 'dangerously ambiguous' : undefined;
}

/** As Go prints the struct. */
function describe({ name, hostPort, containerPort, protocol, hostIP }: JsonObject): string {
  return `{Name:${text(name)} HostPort:${count(hostPort)} ContainerPort:${count(containerPort)} Protocol:${text(protocol)} HostIP:${text(hostIP)}}`;
}
