import type { Container, LimitRange, Pod } from '../../../api/types/core/v1.ts';

const ANNOTATION = 'kubernetes.io/limit-ranger';

/** Gives the containers of a pod what a LimitRange says for those that do not say; an annotation tells what was given. */
export function giveDefaults(pod: Pod, limitRange: LimitRange): void {
  const defaults = defaultsOf(limitRange);
  const { containers, initContainers } = pod.spec ?? {};
  const given = [
    ...(containers ?? []).flatMap((container) => complete(container, 'container', defaults)),
    ...(initContainers ?? []).flatMap((container) => complete(container, 'init container', defaults)),
  ];
  if (given.length === 0) return;
  pod.metadata.annotations = {
    ...pod.metadata.annotations,
    [ANNOTATION]: `LimitRanger plugin set: ${given.join('; ')}`,
  };
}

type Amounts = Readonly<Record<string, string>>;

interface Defaults {
  readonly requests: Amounts;
  readonly limits: Amounts;
}

function defaultsOf({ spec }: LimitRange): Defaults {
  const limits = (spec?.limits ?? []).filter(({ type }) => type === 'Container');
  const all = (of: 'defaultRequest' | 'default'): Amounts =>
    Object.assign({}, ...limits.map((limit) => limit[of]));
  return { requests: all('defaultRequest'), limits: all('default') };
}

/** Answers what was given, as the annotation tells it. */
function complete(container: Container, kind: string, defaults: Defaults): string[] {
  return (['requests', 'limits'] as const).flatMap((of) => {
    const held = container.resources?.[of] ?? {};
    const missing = Object.entries(defaults[of]).filter(([name]) => held[name] === undefined);
    if (missing.length === 0) return [];
    container.resources = { ...container.resources, [of]: { ...held, ...Object.fromEntries(missing) } };
    const names = missing.map(([name]) => name).sort();
    return [`${names.join(', ')} ${of.slice(0, -1)} for ${kind} ${container.name ?? ''}`];
  });
}
