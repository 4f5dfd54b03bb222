import { describe, expect, test } from 'vitest';
import type { ApiObject, JsonObject } from '../../src/api/object-meta.ts';
import { events } from '../../src/resources/core/event.ts';
import { eventsV1 } from '../../src/resources/events/event.ts';
import { created, problemsOnCreate, problemsOnUpdate } from '../kit/manifests.ts';

const ABOUT = { kind: 'Pod', namespace: 'default', name: 'web', apiVersion: 'v1' };
const TIME = '2024-05-01T10:00:00.000000Z';

/** As recorders of old write them. */
const OLD = {
  metadata: { name: 'web.1' },
  involvedObject: ABOUT,
  reason: 'Started',
  message: 'Started container web',
  source: { component: 'agent', host: 'node-1' },
  firstTimestamp: '2024-05-01T10:00:00Z',
  lastTimestamp: '2024-05-01T10:05:00Z',
  count: 3,
  type: 'Normal',
};
/** As recorders of events.k8s.io/v1 write them, in the form they are stored in. */
const NEW = {
  metadata: { name: 'web.2' },
  involvedObject: ABOUT,
  reason: 'Scheduled',
  message: 'Assigned to node-1',
  type: 'Normal',
  eventTime: TIME,
  action: 'Binding',
  reportingComponent: 'example.com/scheduler',
  reportingInstance: 'scheduler-0',
};
const QUALIFIED =
  "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character " +
  "(e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const MISMATCH = 'does not match event.namespace';

describe('events of the core group', () => {
  test('may be of the old or the new kind', () => {
    expect(problemsOnCreate(events, OLD)).toEqual([]);
    expect(problemsOnCreate(events, NEW)).toEqual([]);
    expect(problemsOnCreate(events, {})).toEqual([]);
  });

  test('may have any type and any name that is good for a path', () => {
    expect(problemsOnCreate(events, { ...OLD, metadata: { name: 'Web_1' }, type: 'Odd' })).toEqual([]);
    expect(problemsOnCreate(events, { ...OLD, metadata: { name: 'a/b' } })).toEqual([
      `metadata.name: Invalid value: "a/b": may not contain '/'`,
    ]);
  });

  test('are in the namespace of their object, or in default when it has none', () => {
    const at = (event: JsonObject, about: string, namespace: string): string[] => {
      const { metadata } = event;
      const placed = { ...(metadata as JsonObject), namespace };
      return problemsOnCreate(events, {
        ...event,
        metadata: placed,
        involvedObject: { ...ABOUT, namespace: about },
      });
    };
    const wrong = (about: string): string[] => [
      `involvedObject.namespace: Invalid value: "${about}": ${MISMATCH}`,
    ];
    expect(at(OLD, 'a', 'a')).toEqual([]);
    expect(at(OLD, '', 'default')).toEqual([]);
    expect(at(OLD, 'a', 'b')).toEqual(wrong('a'));
    expect(at(OLD, '', 'kube-system')).toEqual(wrong(''));
    expect(at(NEW, '', 'kube-system')).toEqual([]);
    expect(at(NEW, '', 'other')).toEqual(wrong(''));
    expect(at(NEW, 'a', 'b')).toEqual([]);
  });

  test('say who reports what, in short, once they have an eventTime', () => {
    expect(problemsOnCreate(events, { ...OLD, eventTime: TIME, reason: '' })).toEqual(
      [
        'action: Required value',
        'reason: Required value',
        'reportingComponent: Invalid value: "": name part must be non-empty',
        `reportingComponent: Invalid value: "": ${QUALIFIED}`,
        'reportingComponent: Required value',
        'reportingInstance: Required value',
      ].sort(),
    );
    const long = 'ä'.repeat(65);
    const wordy = { action: long, reason: long, reportingInstance: long, message: 'x'.repeat(1025) };
    expect(problemsOnCreate(events, { ...NEW, ...wordy, reportingComponent: 'a b' })).toEqual([
      'action: Invalid value: "": can have at most 128 characters',
      'message: Invalid value: "": can have at most 1024 characters',
      'reason: Invalid value: "": can have at most 128 characters',
      `reportingComponent: Invalid value: "a b": ${QUALIFIED}`,
      'reportingInstance: Invalid value: "": can have at most 128 characters',
    ]);
    expect(problemsOnCreate(events, { ...OLD, message: 'x'.repeat(2000), reason: long })).toEqual([]);
  });

  test('may change in every field', () => {
    expect(problemsOnUpdate(events, NEW, { ...NEW, message: 'another', reason: 'Other' })).toEqual([]);
  });
});

describe('events of events.k8s.io', () => {
  test('are of the new kind', () => {
    expect(problemsOnCreate(eventsV1, NEW)).toEqual([]);
    expect(problemsOnCreate(eventsV1, { ...NEW, type: 'Warning' })).toEqual([]);
    expect(problemsOnCreate(eventsV1, { ...OLD, type: 'Odd' })).toEqual([
      'count: Invalid value: "": needs to be unset',
      'eventTime: Required value',
      'firstTimestamp: Invalid value: "": needs to be unset',
      'lastTimestamp: Invalid value: "": needs to be unset',
      'source: Invalid value: "": needs to be unset',
      'type: Invalid value: "": has invalid value: Odd',
    ]);
  });

  test('call the one who reports a controller', () => {
    expect(problemsOnCreate(eventsV1, { ...NEW, reportingComponent: 'a b' })).toEqual([
      `reportingController: Invalid value: "a b": ${QUALIFIED}`,
    ]);
  });

  test('have names that are DNS subdomains', () => {
    const [line = ''] = problemsOnCreate(eventsV1, { ...NEW, metadata: { name: 'Web_1' } });
    expect(line).toMatch(/^metadata\.name: Invalid value: "Web_1": a lowercase RFC 1123 subdomain/);
  });

  test('are a series from the second time on', () => {
    const series = { count: 1 };
    const lines = [
      'series.count: Invalid value: "": should be at least 2',
      'series.lastObservedTime: Required value',
    ];
    expect(problemsOnCreate(eventsV1, { ...NEW, series })).toEqual(lines);
    expect(problemsOnUpdate(eventsV1, NEW, { ...NEW, series })).toEqual(lines);
    const repeated = { ...NEW, series: { count: 2, lastObservedTime: TIME } };
    expect(problemsOnUpdate(eventsV1, NEW, repeated)).toEqual([]);
    expect(
      problemsOnUpdate(eventsV1, repeated, { ...repeated, metadata: { name: 'web.2', labels: { a: 'b' } } }),
    ).toEqual([]);
  });

  test('change in their series and metadata only', () => {
    const changed = {
      ...NEW,
      involvedObject: { ...ABOUT, name: 'other' },
      reason: 'Other',
      message: 'other',
      type: 'Warning',
      eventTime: '2024-05-01T10:00:00.000001Z',
      action: 'Other',
      related: ABOUT,
      reportingComponent: 'other',
      reportingInstance: 'other',
      source: { component: 'other', host: 'node-2' },
      count: 2,
    };
    expect(problemsOnUpdate(eventsV1, NEW, changed)).toEqual([
      'action: Invalid value: "Other": field is immutable',
      'count: Invalid value: 2: field is immutable',
      'eventTime: Invalid value: "2024-05-01T10:00:00.000001Z": field is immutable',
      'involvedObject: Invalid value: core.ObjectReference{Kind:"Pod", Namespace:"default", Name:"other", UID:"", APIVersion:"v1", ResourceVersion:"", FieldPath:""}: field is immutable',
      'message: Invalid value: "other": field is immutable',
      'reason: Invalid value: "Other": field is immutable',
      'related: Invalid value: core.ObjectReference{Kind:"Pod", Namespace:"default", Name:"web", UID:"", APIVersion:"v1", ResourceVersion:"", FieldPath:""}: field is immutable',
      'reportingController: Invalid value: "other": field is immutable',
      'reportingInstance: Invalid value: "other": field is immutable',
      'source: Invalid value: core.EventSource{Component:"other", Host:"node-2"}: field is immutable',
      'type: Invalid value: "Warning": field is immutable',
    ]);
  });

  test('made through the core group can still be labelled, however old', () => {
    const old = created(events, OLD);
    const [version] = eventsV1.versions;
    const sent = version?.conversion?.toStorage(version.conversion.fromStorage(old)) ?? old;
    const labelled: ApiObject = { ...sent, metadata: { ...sent.metadata, labels: { a: 'b' } } };
    expect(eventsV1.strategy.validateUpdate?.(labelled, old)).toEqual([]);
    expect(eventsV1.strategy.validate?.(labelled)).toEqual([]);
  });
});

describe('the table of events', () => {
  const NOW = Date.parse('2024-05-01T10:10:00Z');
  const row = (event: JsonObject): unknown => events.cells(created(events, event), NOW);

  test('shows old events by their count', () => {
    expect(row({ ...OLD, involvedObject: { ...ABOUT, fieldPath: 'spec' } })).toEqual([
      '5m',
      'Normal',
      'Started',
      'pod/web',
      'spec',
      'agent, node-1',
      'Started container web',
      '10m',
      3,
      'web.1',
    ]);
  });

  test('shows new events by their series', () => {
    expect(row({ ...NEW, series: { count: 7, lastObservedTime: '2024-05-01T10:09:30.000000Z' } })).toEqual([
      '30s',
      'Normal',
      'Scheduled',
      'pod/web',
      '',
      'example.com/scheduler, scheduler-0',
      'Assigned to node-1',
      '10m',
      7,
      'web.2',
    ]);
    expect(row(NEW)).toMatchObject({ 0: '10m', 8: 1 });
  });

  test('knows no time where there is none', () => {
    expect(row({ metadata: { name: 'a' }, involvedObject: { kind: 'Node' }, message: ' x\n' })).toEqual([
      '<unknown>',
      '',
      '',
      'node',
      '',
      '',
      'x',
      '<unknown>',
      1,
      'a',
    ]);
  });

  test('is the same in both groups', () => {
    expect(eventsV1.columns).toEqual(events.columns);
    expect(events.columns.at(-1)).toMatchObject({ name: 'Name', format: 'name', priority: 1 });
  });
});
