import type { Container, PodSpec } from '../../api/types/core/v1.ts';
import {
  addLists,
  maxLists,
  NOTHING,
  type ResourceList,
  toResourceList,
} from '../../object/resource-list.ts';

/** What a pod asks for, or may use at most, as the scheduler counts it (Kubernetes: pkg/api/v1/resource). */
export function podResources(
  { containers, initContainers }: PodSpec,
  of: 'requests' | 'limits',
): ResourceList {
  let running = NOTHING;
  for (const container of containers ?? []) running = addLists(running, resourcesOf(container, of));
  // Those that go on running beside the others; the rest run one after the other, before the containers do.
  let sidecars = NOTHING;
  let most = NOTHING;
  for (const container of initContainers ?? []) {
    const own = resourcesOf(container, of);
    if (container.restartPolicy === 'Always') {
      running = addLists(running, own);
      sidecars = addLists(sidecars, own);
      most = maxLists(most, sidecars);
    } else {
      most = maxLists(most, addLists(own, sidecars));
    }
  }
  return maxLists(running, most);
}

export const resourcesOf = ({ resources }: Container, of: 'requests' | 'limits'): ResourceList =>
  toResourceList(resources?.[of]);
