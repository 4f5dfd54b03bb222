import { type AdmissionPluginName, findPlugin, PLUGIN_NAMES, pluginsOf } from '../admission/all-plugins.ts';
import { type Minor, toVersion } from '../api/emulation.ts';
import { DEFAULT_MINOR } from '../version.ts';
import { bothOrNeither, nearestName } from './checks.ts';
import type { CommandLine } from './command-line.ts';
import { bool, int, list, text, UsageError } from './flag.ts';

export const admissionFlags = {
  configFile: text('admission-control-config-file', {
    default: '',
    meaning: 'admission control configuration file',
  }),
  enabled: list('enable-admission-plugins', {
    default: [],
    meaning: 'plugins enabled in addition to the defaults; order does not matter',
    check: pluginNames,
  }),
  disabled: list('disable-admission-plugins', {
    default: [],
    meaning: 'plugins disabled although default-enabled; order does not matter',
    check: pluginNames,
  }),
};

/** Rules for pods. */
export const podAdmissionFlags = {
  notReadySeconds: int('default-not-ready-toleration-seconds', {
    default: 300,
    meaning: 'tolerationSeconds of the default notReady:NoExecute toleration added to pods lacking one',
  }),
  unreachableSeconds: int('default-unreachable-toleration-seconds', {
    default: 300,
    meaning: 'same, for unreachable:NoExecute',
  }),
  allowPrivileged: bool('allow-privileged', { default: false, meaning: 'allow privileged containers' }),
};

/** The identity of this server towards admission webhooks. */
export const proxyClientFlags = {
  certFile: text('proxy-client-cert-file', {
    default: '',
    meaning: 'identity of the server when it calls out to admission webhooks and to other API servers',
  }),
  keyFile: text('proxy-client-key-file', {
    default: '',
    meaning: 'identity of the server when it calls out to admission webhooks and to other API servers',
  }),
};

/** The plugins that judge writes, and their configuration. */
export type AdmissionOptions = ReturnType<typeof readAdmission>;

/** `minor`: the emulated version, which has plugins of its own. @throws UsageError */
export function readAdmission(line: CommandLine, minor: Minor = DEFAULT_MINOR) {
  const { configFile, enabled, disabled } = line.valuesOf(admissionFlags);
  mustBeThere(enabled, admissionFlags.enabled.shown, minor);
  mustBeThere(disabled, admissionFlags.disabled.shown, minor);
  const both = [...enabled].find((name) => disabled.has(name));
  if (both !== undefined) {
    const [on, off] = [admissionFlags.enabled.shown, admissionFlags.disabled.shown];
    throw new UsageError(`${on} and ${off} both name ${both}: name it in one of them`);
  }
  const proxyClient = line.valuesOf(proxyClientFlags);
  bothOrNeither(
    { flag: proxyClientFlags.certFile, file: proxyClient.certFile },
    { flag: proxyClientFlags.keyFile, file: proxyClient.keyFile },
  );
  const { notReadySeconds, unreachableSeconds, allowPrivileged } = line.valuesOf(podAdmissionFlags);
  return Object.freeze({
    /** In the order they run. */
    plugins: pluginsOf(minor)
      .filter(({ name, isDefault }) => enabled.has(name) || (isDefault && !disabled.has(name)))
      .map(({ name }) => name),
    /** Empty: every plugin has its defaults. */
    configFile,
    allowPrivileged,
    /** How long pods stay on unready or unreachable nodes by default. */
    tolerationSeconds: { notReady: notReadySeconds, unreachable: unreachableSeconds },
    proxyClient,
  });
}

function mustBeThere(names: ReadonlySet<AdmissionPluginName>, flag: string, minor: Minor): void {
  const there = new Set(pluginsOf(minor).map(({ name }) => name));
  const missing = [...names].find((name) => !there.has(name));
  if (missing !== undefined)
    throw new UsageError(
      `${flag}: Kubernetes ${toVersion(minor)}, which is emulated, has no plugin ${missing}`,
    );
}

function pluginNames(names: readonly string[], flag: string): ReadonlySet<AdmissionPluginName> {
  return new Set(
    names.map((name) => {
      const plugin = findPlugin(name);
      if (plugin !== undefined) return plugin.name;
      const nearest = nearestName(name, PLUGIN_NAMES) ?? PLUGIN_NAMES.join(', ');
      throw new UsageError(`${flag}: no plugin is called ${JSON.stringify(name)}; it must be ${nearest}`);
    }),
  );
}
