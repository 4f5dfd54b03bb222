import type { PastWrite } from './past.ts';

type Author = Pick<PastWrite, 'user' | 'userAgent' | 'manager'>;

/** Tools of people, and of pipelines in their name: such writes answer no other, for any user. */
const TOOLS =
  /^(kubectl|kubectl-[a-z-]+|oc|k9s|helm|Helm|kustomize|terraform|HashiCorp|pulumi|argocd|Mozilla)([/ ]|$)/i;

/** People whose names look like those of components. */
const PEOPLE = new Set(['system:admin', 'system:anonymous', 'system:unauthenticated']);

/** Whether the author answers other writes, rather than acts for a person. */
export function isController({ user, userAgent }: Author): boolean {
  if (TOOLS.test(userAgent)) return false;
  if (user.startsWith('system:') && !PEOPLE.has(user)) return true;
  return /^(kube-controller-manager|kube-scheduler|kubelet|cloud-controller-manager)\//.test(userAgent);
}

const ACCOUNT = /^system:serviceaccount:[^:]+:(?<name>.+)$/;
const COMPONENT = /^system:(?<name>kube-scheduler|kube-proxy|cloud-controller-manager)$/;

/**
 * Returns a controller's name. One that writes through credentials that all controllers of a process share has it at the end of its
 * user agent (client-go, rest.AddUserAgent); one of this server has it as its user agent.
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

/** Whether a controller's ways are known: it is of Kubernetes itself, or of this server. */
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

/** Returns how sure rules on such controllers are: of an operator, only owners and order are known. */
export const trustIn = (author: Author): 'likely' | 'possible' =>
  isOfKubernetes(author) ? 'likely' : 'possible';
