import { expect, test } from 'vitest';
import { kubeletApproval } from '../../../src/controllers/joining/approval.ts';
import { makeRequestWithKey } from '../../kit/certificate-request.ts';
import { actOn } from './kit.ts';

const SIGNER = 'kubernetes.io/kube-apiserver-client-kubelet';
const USAGES = ['digital signature', 'client auth'];
const SELF = 'Auto approving self kubelet client certificate after SubjectAccessReview.';
const ANY = 'Auto approving kubelet client certificate after SubjectAccessReview.';

interface Asked {
  readonly by?: string;
  readonly subject?: string;
  readonly signer?: string;
  readonly usages?: readonly string[];
  /** Subresources on which the requester has the right. */
  readonly rights?: readonly string[];
  readonly status?: Parameters<typeof actOn>[2];
}

async function approve(asked: Asked) {
  const { by = 'system:bootstrap:abcdef', subject = 'O=system:nodes, CN=system:node:a' } = asked;
  const questions: string[] = [];
  const rule = kubeletApproval(
    {
      whyNot: async (user, { verb, group, resource, subresource = '' }) => {
        questions.push(`${user.username} ${user.groups} ${verb} ${resource}.${group}/${subresource}`);
        return (asked.rights ?? []).includes(subresource) ? undefined : 'no';
      },
    },
    () => new Date('2026-02-02T00:00:00Z'),
  );
  const { request } = await makeRequestWithKey(subject);
  const { signer = SIGNER, usages = USAGES } = asked;
  const spec = { request, signerName: signer, usages: [...usages], username: by, groups: ['g'] };
  return { ...(await actOn(rule, spec, asked.status)), questions };
}

test('a requester with the right to any node is approved, a node with the right to its own for its own alone', async () => {
  const at = '2026-02-02T00:00:00Z';
  const approved = (message: string) => ({
    conditions: [
      {
        type: 'Approved',
        status: 'True',
        reason: 'AutoApproved',
        message,
        lastUpdateTime: at,
        lastTransitionTime: at,
      },
    ],
  });
  const first = await approve({ rights: ['nodeclient'] });
  expect(first.status).toEqual(approved(ANY));
  expect(first.questions).toEqual([
    'system:bootstrap:abcdef g create certificatesigningrequests.certificates.k8s.io/nodeclient',
  ]);
  const own = await approve({ by: 'system:node:a', rights: ['selfnodeclient'] });
  expect(own.status).toEqual(approved(SELF));
  const foreign = await approve({ by: 'system:node:b', rights: ['selfnodeclient'] });
  expect(foreign.status).toEqual({});
  expect(foreign.questions).toHaveLength(1);
});

test('without the right it asks again later, because a binding may follow', async () => {
  const { status, againMs, questions } = await approve({ by: 'system:node:a' });
  expect({ status, againMs }).toEqual({ status: {}, againMs: 30_000 });
  expect(questions.map((text) => text.split('/').at(-1))).toEqual(['selfnodeclient', 'nodeclient']);
});

test.each<Asked>([
  { signer: 'kubernetes.io/kubelet-serving' },
  { signer: 'kubernetes.io/kube-apiserver-client' },
  { subject: 'O=system:masters, CN=system:node:a' },
  { subject: 'O=system:nodes, O=more, CN=system:node:a' },
  { subject: 'O=system:nodes, CN=a' },
  { usages: ['client auth'] },
  { usages: [...USAGES, 'server auth'] },
  { status: { conditions: [{ type: 'Denied', status: 'True' }] } },
  { status: { conditions: [{ type: 'Approved', status: 'True' }] } },
])('no right is asked for a request that is not of a kubelet, or is decided: %j', async (asked) => {
  const { commits, againMs, questions } = await approve({
    ...asked,
    rights: ['nodeclient', 'selfnodeclient'],
  });
  expect({ commits, againMs, questions }).toEqual({ commits: 0, againMs: undefined, questions: [] });
});
