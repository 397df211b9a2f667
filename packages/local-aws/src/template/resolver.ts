import { type Template, TemplateError, type TemplateResource } from './assembly.ts';
import {
  ACCOUNT_ID,
  attributeOf,
  isKnownLater,
  nameProperty,
  PARTITION,
  physicalName,
  REGION,
  referenceOf,
  stableText,
  URL_SUFFIX,
} from './attributes.ts';

/** The answer of a custom resource's function, or the attributes of a function URL. */
export interface CustomResourceState {
  physicalResourceId: string;
  data: Record<string, unknown>;
}

/** A resource of the template whose condition holds. */
export interface StackResource {
  logicalId: string;
  type: string;
  /** Unresolved properties. */
  properties: Record<string, unknown>;
  definition: TemplateResource;
}

/** Evaluates the template's intrinsic functions. */
export interface Resolver {
  /** The resources whose condition holds, of these types if any are given, in the template's order. */
  resources(...types: string[]): StackResource[];
  /** The value with every intrinsic function evaluated. Throws `TemplateError` where one cannot be evaluated (yet). */
  resolve(value: unknown): unknown;
  /** `resolve` for text. Numbers and booleans become text, as in CloudFormation. Throws `TemplateError` for anything else. */
  text(value: unknown): string;
  /** The physical name of a resource. */
  nameOf(logicalId: string): string;
  /** The value of `Ref`. */
  reference(logicalId: string): string;
  /** The value of `Fn::GetAtt`. */
  attribute(logicalId: string, attribute: string): unknown;
}

const NO_VALUE = Symbol('AWS::NoValue');

type Intrinsics = Record<string, (argument: unknown) => unknown>;

/** A resolver for `template`. `customResources` is read at each use, so it may be filled later. */
export const createResolver = (
  template: Template,
  stackName: string,
  customResources: ReadonlyMap<string, CustomResourceState>,
): Resolver => {
  const pseudoParameters: Record<string, unknown> = {
    'AWS::AccountId': ACCOUNT_ID,
    'AWS::NoValue': NO_VALUE,
    'AWS::NotificationARNs': [],
    'AWS::Partition': PARTITION,
    'AWS::Region': REGION,
    'AWS::StackId': `arn:${PARTITION}:cloudformation:${REGION}:${ACCOUNT_ID}:stack/${stackName}/${stableText(stackName, 12)}`,
    'AWS::StackName': stackName,
    'AWS::URLSuffix': URL_SUFFIX,
  };

  const definitionOf = (logicalId: string): TemplateResource => {
    const definition = template.Resources[logicalId];
    if (!definition || !isMade(definition)) {
      throw new TemplateError(`The template has no resource ${logicalId}`);
    }
    return definition;
  };

  const customResource = (logicalId: string): CustomResourceState => {
    const state = customResources.get(logicalId);
    if (!state) throw new TemplateError(`${logicalId} has not been made yet`);
    return state;
  };

  const nameOf = (logicalId: string): string => {
    const definition = definitionOf(logicalId);
    const property = nameProperty(definition);
    return physicalName(logicalId, definition, property && resolveValue(definition.Properties?.[property]));
  };

  const reference = (logicalId: string): string => {
    const definition = definitionOf(logicalId);
    if (isKnownLater(definition)) return customResource(logicalId).physicalResourceId;
    return referenceOf({ logicalId, name: nameOf(logicalId) }, definition);
  };

  const attribute = (logicalId: string, name: string): unknown => {
    const definition = definitionOf(logicalId);
    if (!isKnownLater(definition))
      return attributeOf({ logicalId, name: nameOf(logicalId) }, definition, name);
    const { data } = customResource(logicalId);
    if (!Object.hasOwn(data, name)) {
      throw new TemplateError(`${logicalId} (${definition.Type}) answered no attribute ${name}`);
    }
    return data[name];
  };

  const ref = (name: string): unknown => {
    if (Object.hasOwn(pseudoParameters, name)) return pseudoParameters[name];
    const parameter = template.Parameters?.[name];
    return parameter ? parameter.Default : reference(name);
  };

  const getAtt = (argument: unknown): unknown => {
    const [logicalId, ...path] = Array.isArray(argument) ? argument : String(argument).split('.');
    return attribute(String(logicalId), text(path.join('.')));
  };

  const substitute = (argument: unknown): string => {
    const [pattern, variables] = Array.isArray(argument) ? argument : [argument, {}];
    return String(pattern).replace(/\$\{(!?)([^}]*)\}/g, (_whole, literal: string, name: string) => {
      if (literal) return `\${${name}}`;
      const key = name.trim();
      if (Object.hasOwn(variables as object, key)) return text((variables as Record<string, unknown>)[key]);
      return String(key.includes('.') ? getAtt(key) : ref(key));
    });
  };

  const list = (value: unknown): unknown[] => {
    const resolved = resolveValue(value);
    if (!Array.isArray(resolved)) throw new TemplateError(`Expected a list: ${JSON.stringify(value)}`);
    return resolved;
  };

  const select = (argument: unknown): unknown => {
    const [index, values] = argument as [unknown, unknown];
    const chosen = list(values)[Number(text(index))];
    if (chosen === undefined)
      throw new TemplateError(`Fn::Select outside its list: ${JSON.stringify(argument)}`);
    return chosen;
  };

  const findInMap = (argument: unknown): unknown => {
    const [map, first, second] = list(argument).map(String);
    const found = template.Mappings?.[map ?? '']?.[first ?? '']?.[second ?? ''];
    if (found === undefined)
      throw new TemplateError(`Fn::FindInMap finds nothing: ${JSON.stringify(argument)}`);
    return found;
  };

  const holds = (condition: unknown): boolean => {
    if (typeof condition === 'string') {
      const named = template.Conditions?.[condition];
      if (named === undefined) throw new TemplateError(`The template has no condition ${condition}`);
      return resolveValue(named) === true;
    }
    return resolveValue(condition) === true;
  };

  const intrinsics: Intrinsics = {
    Ref: (argument) => ref(String(argument)),
    Condition: (argument) => holds(String(argument)),
    'Fn::GetAtt': getAtt,
    'Fn::Join': (argument) => {
      const [separator, values] = argument as [string, unknown];
      return list(values).map(String).join(separator);
    },
    'Fn::Sub': substitute,
    'Fn::Select': select,
    'Fn::Split': (argument) => {
      const [separator, value] = argument as [string, unknown];
      return text(value).split(separator);
    },
    'Fn::FindInMap': findInMap,
    'Fn::If': (argument) => {
      const [condition, whenTrue, whenFalse] = argument as [string, unknown, unknown];
      return resolveValue(holds(condition) ? whenTrue : whenFalse);
    },
    'Fn::Equals': (argument) => {
      const [left, right] = list(argument);
      return String(left) === String(right);
    },
    'Fn::And': (argument) => (argument as unknown[]).every(holds),
    'Fn::Or': (argument) => (argument as unknown[]).some(holds),
    'Fn::Not': (argument) => !(argument as unknown[]).every(holds),
  };

  /** Like `resolve`, but keeps `AWS::NoValue` so that the enclosing value can omit it. */
  const resolveValue = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(resolveValue).filter((item) => item !== NO_VALUE);
    if (typeof value !== 'object' || value === null) return value;
    const entries = Object.entries(value);
    const [only] = entries;
    if (only && entries.length === 1) {
      const [name, argument] = only;
      // `Condition` is an intrinsic function only inside conditions, where its argument is a name.
      const intrinsic = name !== 'Condition' || typeof argument === 'string' ? intrinsics[name] : undefined;
      if (intrinsic) return intrinsic(argument);
      if (name.startsWith('Fn::')) throw new TemplateError(`The local run does not know ${name}`);
    }
    return Object.fromEntries(
      entries
        .map(([key, item]) => [key, resolveValue(item)] as const)
        .filter(([, item]) => item !== NO_VALUE),
    );
  };

  const resolve = (value: unknown): unknown => {
    const resolved = resolveValue(value);
    return resolved === NO_VALUE ? undefined : resolved;
  };

  const text = (value: unknown): string => {
    const resolved = resolve(value);
    if (typeof resolved === 'string' || typeof resolved === 'number' || typeof resolved === 'boolean') {
      return String(resolved);
    }
    throw new TemplateError(`Expected text: ${JSON.stringify(value)}`);
  };

  const isMade = (definition: TemplateResource): boolean =>
    definition.Condition === undefined || holds(definition.Condition);

  const resources = (...types: string[]): StackResource[] =>
    Object.entries(template.Resources)
      .filter(([, definition]) => types.length === 0 || types.includes(definition.Type))
      .filter(([, definition]) => isMade(definition))
      .map(([logicalId, definition]) => ({
        logicalId,
        type: definition.Type,
        properties: definition.Properties ?? {},
        definition,
      }));

  return { resources, resolve, text, nameOf, reference, attribute };
};
