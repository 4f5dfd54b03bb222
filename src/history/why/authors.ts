import type { PastWrite } from './past.ts';

type Author = Pick<PastWrite, 'user' | 'userAgent' | 'manager'>;

/** What a person, or a pipeline in the name of one, writes with: the act is its own whoever the user is. */
const TOOLS =
  /^(kubectl|kubectl-[a-z-]+|oc|k9s|helm|Helm|kustomize|terraform|HashiCorp|pulumi|argocd|Mozilla)([/ ]|$)/i;

/** People whose names look like those of components. */
const PEOPLE = new Set(['system:admin', 'system:anonymous', 'system:unauthenticated']);

/** Whether the author answers what others write, rather than writing because somebody wanted it. */
export function isController({ user, userAgent }: Author): boolean {
  if (TOOLS.test(userAgent)) return false;
  if (user.startsWith('system:') && !PEOPLE.has(user)) return true;
  return /^(kube-controller-manager|kube-scheduler|kubelet|cloud-controller-manager)\//.test(userAgent);
}

const ACCOUNT = /^system:serviceaccount:[^:]+:(?<name>.+)$/;
const COMPONENT = /^system:(?<name>kube-scheduler|kube-proxy|cloud-controller-manager)$/;

/**
 * The name of a controller. One that writes through the credentials that all controllers of a process share has it at the end of
 * its user agent (client-go, rest.AddUserAgent); one of this server has it as its user agent.
 *
 *     system:serviceaccount:kube-system:replicaset-controller                        → replicaset-controller
 *     kube-controller-manager/v1.31.0 (linux/amd64) kubernetes/9edcffc/job-controller → job-controller
 */
export function controllerOf({ user, userAgent, manager }: Author): string {
  const named = ACCOUNT.exec(user)?.groups?.name ?? COMPONENT.exec(user)?.groups?.name;
  if (named !== undefined) return named;
  if (user.startsWith(NODE)) return 'kubelet';
  const [, last = ''] = /([^/:\s]*)$/.exec(userAgent) ?? [];
  return last === '' ? manager : last;
}

const NODE = 'system:node:';

export const nodeOf = ({ user }: Author): string => (user.startsWith(NODE) ? user.slice(NODE.length) : '');

/** Controllers whose ways are known: those of Kubernetes itself, and of this server. */
export function isOfKubernetes(author: Author): boolean {
  const { user, userAgent } = author;
  return (
    user.startsWith('system:serviceaccount:kube-system:') ||
    (user.startsWith('system:') && !user.startsWith('system:serviceaccount:')) ||
    /^(kube-controller-manager|kube-scheduler|kubelet)\//.test(userAgent)
  );
}

/** Whether two writes have the same author: a user, and what it wrote with. */
export const isBySame = (a: Author, b: Author): boolean =>
  a.user === b.user && controllerOf(a) === controllerOf(b);

/** How sure it is that a controller did what such controllers do: of an operator, nothing is known but owners and order. */
export const trustIn = (author: Author): 'likely' | 'possible' =>
  isOfKubernetes(author) ? 'likely' : 'possible';
