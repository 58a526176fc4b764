import { expect, it } from 'vitest';
import { gvkOf } from '../kernel/index.ts';
import type { KubernetesObject } from '../kernel/index.ts';
import { inApplyOrder } from './apply-order.ts';

it('puts CustomResourceDefinitions and Namespaces first and keeps the order of the others', () => {
  const object = (apiVersion: string, kind: string): KubernetesObject => ({ apiVersion, kind, metadata: {} });
  const objects = [
    object('apps/v1', 'Deployment'),
    object('v1', 'Namespace'),
    object('example.com/v1', 'Namespace'),
    object('apiextensions.k8s.io/v1', 'CustomResourceDefinition'),
    object('v1', 'ConfigMap'),
  ];
  expect(inApplyOrder(objects, gvkOf).map(({ apiVersion, kind }) => `${apiVersion} ${kind}`)).toEqual([
    'apiextensions.k8s.io/v1 CustomResourceDefinition',
    'v1 Namespace',
    'apps/v1 Deployment',
    'example.com/v1 Namespace',
    'v1 ConfigMap',
  ]);
});
