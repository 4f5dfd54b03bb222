import { stringify } from 'yaml';
import type { ApiObject } from '../../api/object-meta.ts';
import type { ConfigMap, Secret } from '../../api/types/core/v1.ts';
import type { PolicyRule, RoleRef, Subject } from '../../api/types/rbac/v1.ts';
import { formatIp, networkBytes, parseCidr } from '../../object/ip.ts';
import { toTimestamp } from '../../object/timestamps.ts';

/** What `kubeadm join` reads, and may read (Kubernetes: cmd/kubeadm/app/phases). */

/** A cluster as joining nodes see it. */
interface JoinedCluster {
  /** `host:port` */
  readonly endpoint: string;
  /** Authority of the serving certificate, in PEM form. */
  readonly ca: string;
  /** One range, or two with a comma. */
  readonly clusterIpRanges: string;
  /** '' for none. */
  readonly podNetwork: string;
  readonly dnsDomain: string;
  /** `v1.36.0` */
  readonly version: string;
}

/** A bootstrap token, `id.secret`. Without an expiry it is good for ever. */
interface JoinToken {
  readonly token: string;
  readonly expiresAt: Date | undefined;
}

const SYSTEM = 'kube-system';
const PUBLIC = 'kube-public';
const JOINING = 'system:bootstrappers:kubeadm:default-node-token';
const NODES = 'system:nodes';
const PKI = '/etc/kubernetes/pki';

/** All objects; applied again, they change nothing, except for another token. */
export function kubeadmObjects(
  cluster: JoinedCluster,
  token: JoinToken,
  { kubeProxy }: { readonly kubeProxy: boolean },
): readonly ApiObject[] {
  return [
    clusterInfo(cluster),
    ...readable(PUBLIC, 'kubeadm:bootstrap-signer-clusterinfo', 'cluster-info', [
      subject('User', 'system:anonymous'),
    ]),
    configMap(SYSTEM, 'kubeadm-config', { ClusterConfiguration: stringify(clusterConfiguration(cluster)) }),
    ...readable(SYSTEM, 'kubeadm:nodes-kubeadm-config', 'kubeadm-config', [group(JOINING), group(NODES)]),
    configMap(SYSTEM, 'kubelet-config', { kubelet: stringify(kubeletConfiguration(cluster)) }),
    ...readable(SYSTEM, 'kubeadm:kubelet-config', 'kubelet-config', [group(NODES), group(JOINING)]),
    ...(kubeProxy ? proxyObjects(cluster) : []),
    {
      ...named('rbac.authorization.k8s.io/v1', 'ClusterRole', 'kubeadm:get-nodes'),
      rules: [{ apiGroups: [''], resources: ['nodes'], verbs: ['get'] }],
    },
    clusterBinding('kubeadm:get-nodes', 'kubeadm:get-nodes', JOINING),
    clusterBinding('kubeadm:kubelet-bootstrap', 'system:node-bootstrapper', JOINING),
    clusterBinding('kubeadm:node-autoapprove-bootstrap', `${REQUESTS}:nodeclient`, JOINING),
    clusterBinding('kubeadm:node-autoapprove-certificate-rotation', `${REQUESTS}:selfnodeclient`, NODES),
    tokenSecret(token),
  ];
}

const REQUESTS = 'system:certificates.k8s.io:certificatesigningrequests';

const named = (apiVersion: string, kind: string, name: string, namespace = ''): ApiObject => ({
  apiVersion,
  kind,
  metadata: { name, ...(namespace === '' ? {} : { namespace }) },
});

const configMap = (namespace: string, name: string, data: Record<string, string>): ConfigMap => ({
  ...named('v1', 'ConfigMap', name, namespace),
  data,
});

/** What a client needs to trust the cluster, and no user. */
const clusterInfo = ({ endpoint, ca }: JoinedCluster): ConfigMap =>
  configMap(PUBLIC, 'cluster-info', {
    kubeconfig: stringify({
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [
        {
          name: '',
          cluster: {
            'certificate-authority-data': Buffer.from(ca).toString('base64'),
            server: `https://${endpoint}`,
          },
        },
      ],
      contexts: null,
      'current-context': '',
      preferences: {},
      users: null,
    }),
  });

const clusterConfiguration = ({
  endpoint,
  clusterIpRanges,
  podNetwork,
  dnsDomain,
  version,
}: JoinedCluster) => ({
  apiVersion: 'kubeadm.k8s.io/v1beta4',
  kind: 'ClusterConfiguration',
  clusterName: 'kubernetes',
  kubernetesVersion: version,
  controlPlaneEndpoint: endpoint,
  certificatesDir: PKI,
  imageRepository: 'registry.k8s.io',
  networking: {
    dnsDomain,
    serviceSubnet: clusterIpRanges,
    ...(podNetwork === '' ? {} : { podSubnet: podNetwork }),
  },
});

/** The defaults of `kubeadm init`. */
const kubeletConfiguration = ({ clusterIpRanges, dnsDomain }: JoinedCluster) => ({
  apiVersion: 'kubelet.config.k8s.io/v1beta1',
  kind: 'KubeletConfiguration',
  authentication: {
    anonymous: { enabled: false },
    webhook: { enabled: true },
    x509: { clientCAFile: `${PKI}/ca.crt` },
  },
  authorization: { mode: 'Webhook' },
  cgroupDriver: 'systemd',
  clusterDNS: [dnsAddress(clusterIpRanges)],
  clusterDomain: dnsDomain,
  healthzBindAddress: '127.0.0.1',
  healthzPort: 10248,
  rotateCertificates: true,
  staticPodPath: '/etc/kubernetes/manifests',
});

/**
 * Where kubeadm expects the cluster's DNS.
 *
 *     dnsAddress('10.96.0.0/16') → '10.96.0.10'
 */
export function dnsAddress(ranges: string): string {
  const range = parseCidr(ranges.split(',')[0]?.trim() ?? '');
  if (range === undefined) throw new Error(`${JSON.stringify(ranges)} is not a CIDR`);
  const bytes = networkBytes(range.bytes, range.prefixBits);
  // Ranges have at least three bits for hosts; in the smallest, the tenth address is outside.
  return formatIp([...bytes.slice(0, -1), (bytes.at(-1) ?? 0) + 10]);
}

const proxyObjects = ({ endpoint, podNetwork }: JoinedCluster): readonly ApiObject[] => [
  configMap(SYSTEM, 'kube-proxy', {
    'kubeconfig.conf': stringify(proxyKubeconfig(endpoint)),
    'config.conf': stringify({
      apiVersion: 'kubeproxy.config.k8s.io/v1alpha1',
      kind: 'KubeProxyConfiguration',
      clientConnection: { kubeconfig: '/var/lib/kube-proxy/kubeconfig.conf' },
      ...(podNetwork === '' ? {} : { clusterCIDR: podNetwork }),
    }),
  }),
  ...readable(SYSTEM, 'kube-proxy', 'kube-proxy', [group(JOINING)]),
];

/** kube-proxy runs in pods, with the service account that is mounted there. */
const proxyKubeconfig = (endpoint: string) => {
  const mounted = '/var/run/secrets/kubernetes.io/serviceaccount';
  return {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [
      {
        name: 'default',
        cluster: { 'certificate-authority': `${mounted}/ca.crt`, server: `https://${endpoint}` },
      },
    ],
    contexts: [{ name: 'default', context: { cluster: 'default', namespace: 'default', user: 'default' } }],
    'current-context': 'default',
    users: [{ name: 'default', user: { tokenFile: `${mounted}/token` } }],
  };
};

const RBAC = 'rbac.authorization.k8s.io';

const subject = (kind: string, name: string): Subject => ({ apiGroup: RBAC, kind, name });
const group = (name: string): Subject => subject('Group', name);
const roleRef = (kind: string, name: string): RoleRef => ({ apiGroup: RBAC, kind, name });

/** A role to read one config map, and its binding. */
function readable(
  namespace: string,
  name: string,
  map: string,
  subjects: readonly Subject[],
): readonly ApiObject[] {
  const rule: PolicyRule = {
    apiGroups: [''],
    resources: ['configmaps'],
    resourceNames: [map],
    verbs: ['get'],
  };
  return [
    { ...named(`${RBAC}/v1`, 'Role', name, namespace), rules: [rule] },
    {
      ...named(`${RBAC}/v1`, 'RoleBinding', name, namespace),
      roleRef: roleRef('Role', name),
      subjects: [...subjects],
    },
  ];
}

const clusterBinding = (name: string, role: string, members: string): ApiObject => ({
  ...named(`${RBAC}/v1`, 'ClusterRoleBinding', name),
  roleRef: roleRef('ClusterRole', role),
  subjects: [group(members)],
});

function tokenSecret({ token, expiresAt }: JoinToken): Secret {
  const [id = '', secret = ''] = token.split('.');
  const data = {
    'token-id': id,
    'token-secret': secret,
    ...(expiresAt === undefined ? {} : { expiration: toTimestamp(expiresAt) }),
    'usage-bootstrap-authentication': 'true',
    'usage-bootstrap-signing': 'true',
    'auth-extra-groups': JOINING,
    description: 'made by pg-apiserver kubeadm-config',
  };
  const encoded = Object.entries(data).map(([key, value]) => [key, Buffer.from(value).toString('base64')]);
  return {
    ...named('v1', 'Secret', `bootstrap-token-${id}`, SYSTEM),
    type: 'bootstrap.kubernetes.io/token',
    data: Object.fromEntries(encoded),
  };
}
