import { describe, expect, test } from '@jest/globals';
import { OWN_IMAGES, OWN_VIDEOS } from '../unit/builders/own-models.ts';
import { ofType, synthesizeService } from './service-template.ts';

const plain = await synthesizeService();
const models = [OWN_IMAGES, OWN_VIDEOS];
const service = await synthesizeService({ models: JSON.stringify(models) });

describe("a stack with the operator's own models", () => {
  test('has the alarm of each beside those of the seven, and no other resource more', () => {
    const added = Object.entries(service.resources).filter(([id]) => !(id in plain.resources));

    expect(added.map(([, { Type }]) => Type)).toEqual(['AWS::CloudWatch::Alarm', 'AWS::CloudWatch::Alarm']);
    expect(JSON.stringify(added)).toContain(`{"Name":"model","Value":"${OWN_IMAGES.id}"}`);
    expect(JSON.stringify(added)).toContain(`{"Name":"model","Value":"${OWN_VIDEOS.id}"}`);
  });

  test('gives its routes to the functions that need any', () => {
    const routed = ofType(service.resources, 'AWS::Lambda::Function').flatMap(
      ([, { Properties }]) => Properties.Environment?.Variables?.MODEL_ROUTES ?? [],
    );

    expect(routed.length).toBeGreaterThan(10);
    for (const text of routed)
      expect(text).toContain(`"${OWN_VIDEOS.id}":${JSON.stringify(OWN_VIDEOS.routes)}`);
  });

  test('tells operators the models by an output, which is not there without any', () => {
    const { Value: text } = service.outputs.OwnModels as { Value: string };

    expect(JSON.parse(text)).toEqual(models.map(({ routes: _, ...data }) => data));
    expect(plain.outputs.OwnModels).toBeUndefined();
  });
});
