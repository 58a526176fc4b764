import { COVERED } from './verdict.ts';
import type { Checklist } from './verdict.ts';

/** controller-runtime v0.25: predicates and event handlers. */
export const controllerRuntimeHandlers: Checklist = {
  'pkg/predicate/predicate_test.go': {
    'Predicate/Funcs/should call Create': COVERED,
    'Predicate/Funcs/should call Update': COVERED,
    'Predicate/Funcs/should call Delete': COVERED,
    'Predicate/Funcs/should call Generic': {
      skipped: 'there is no generic event: only an informer feeds a controller',
    },
    "Predicate/ResourceVersionChanged/Where the old object doesn't have a ResourceVersion or metadata/should return false":
      { skipped: 'an event always bears its objects: their types are not nullable' },
    "Predicate/ResourceVersionChanged/Where the new object doesn't have a ResourceVersion or metadata/should return false":
      { skipped: 'an event always bears its objects: their types are not nullable' },
    "Predicate/ResourceVersionChanged/Where the ResourceVersion hasn't changed/should return false": COVERED,
    'Predicate/ResourceVersionChanged/Where the ResourceVersion has changed/should return true': COVERED,
    'Predicate/ResourceVersionChanged/Where the objects or metadata are missing/should return false': {
      skipped: 'an event always bears its objects: their types are not nullable',
    },
    "Predicate/GenerationChanged/Where the old object doesn't have a Generation or metadata/should return false": {
      skipped: 'an event always bears its objects: their types are not nullable',
    },
    "Predicate/GenerationChanged/Where the new object doesn't have a Generation or metadata/should return false": {
      skipped: 'an event always bears its objects: their types are not nullable',
    },
    "Predicate/GenerationChanged/Where the Generation hasn't changed/should return false": COVERED,
    'Predicate/GenerationChanged/Where the Generation has changed/should return true': COVERED,
    'Predicate/GenerationChanged/Where the objects or metadata are missing/should return false': {
      skipped: 'an event always bears its objects: their types are not nullable',
    },
    'Predicate/AnnotationChanged/Where the old object is missing/should return false': {
      skipped: 'an event always bears its objects: their types are not nullable',
    },
    'Predicate/AnnotationChanged/Where the new object is missing/should return false': {
      skipped: 'an event always bears its objects: their types are not nullable',
    },
    'Predicate/AnnotationChanged/Where the annotations are empty/should return false': COVERED,
    "Predicate/AnnotationChanged/Where the annotations haven't changed/should return false": COVERED,
    'Predicate/AnnotationChanged/Where an annotation value has changed/should return true': COVERED,
    'Predicate/AnnotationChanged/Where an annotation has been added/should return true': COVERED,
    'Predicate/AnnotationChanged/Where an annotation has been removed/should return true': COVERED,
    'Predicate/LabelChanged/Where the old object is missing/should return false': {
      skipped: 'an event always bears its objects: their types are not nullable',
    },
    'Predicate/LabelChanged/Where the new object is missing/should return false': {
      skipped: 'an event always bears its objects: their types are not nullable',
    },
    'Predicate/LabelChanged/Where the labels are empty/should return false': COVERED,
    "Predicate/LabelChanged/Where the labels haven't changed/should return false": COVERED,
    'Predicate/LabelChanged/Where a label value has changed/should return true': COVERED,
    'Predicate/LabelChanged/Where a label has been added/should return true': COVERED,
    'Predicate/LabelChanged/Where a label has been removed/should return true': COVERED,
    'Predicate/With a boolean predicate/And/should return false when one of its predicates returns false': COVERED,
    'Predicate/With a boolean predicate/And/should return true when all of its predicates return true': COVERED,
    'Predicate/With a boolean predicate/Or/should return true when one of its predicates returns true': COVERED,
    'Predicate/With a boolean predicate/Or/should return false when all of its predicates return false': COVERED,
    'Predicate/With a boolean predicate/Not/should return false when its predicate returns true': COVERED,
    'Predicate/With a boolean predicate/Not/should return true when its predicate returns false': COVERED,
    'Predicate/NewPredicateFuncs with a namespace filter function/Where the namespace is matching/should return true':
      COVERED,
    'Predicate/NewPredicateFuncs with a namespace filter function/Where the namespace is not matching/should return false':
      COVERED,
    'Predicate/LabelSelector/When the Selector does not match the event labels/should return false': COVERED,
    'Predicate/LabelSelector/When the Selector matches the event labels/should return true': COVERED,
  },
  'pkg/handler/eventhandler_test.go': {
    'Handler/EnqueueRequestForObject/should enqueue a Request with the Name / Namespace of the object in the CreateEvent':
      COVERED,
    'Handler/EnqueueRequestForObject/should enqueue a Request with the Name / Namespace of the object in the DeleteEvent':
      COVERED,
    'Handler/EnqueueRequestForObject/should enqueue a Request with the Name / Namespace of one object in the UpdateEvent':
      COVERED,
    'Handler/EnqueueRequestForObject/should enqueue a Request with the Name / Namespace of the object in the GenericEvent':
      { skipped: 'there is no generic event: only an informer feeds a controller' },
    'Handler/EnqueueRequestForObject/for a runtime.Object without Object/should do nothing if the Object is missing for a CreateEvent':
      { skipped: 'an event always bears its objects: their types are not nullable' },
    'Handler/EnqueueRequestForObject/for a runtime.Object without Object/should do nothing if the Object is missing for a UpdateEvent':
      { skipped: 'an event always bears its objects: their types are not nullable' },
    'Handler/EnqueueRequestForObject/for a runtime.Object without Object/should do nothing if the Object is missing for a DeleteEvent':
      { skipped: 'an event always bears its objects: their types are not nullable' },
    'Handler/EnqueueRequestForObject/for a runtime.Object without Object/should do nothing if the Object is missing for a GenericEvent':
      { skipped: 'there is no generic event: only an informer feeds a controller' },
    'Handler/EnqueueRequestsFromMapFunc/should enqueue a Request with the function applied to the CreateEvent': COVERED,
    'Handler/EnqueueRequestsFromMapFunc/should enqueue a Request with the function applied to the DeleteEvent': COVERED,
    'Handler/EnqueueRequestsFromMapFunc/should enqueue a Request with the function applied to both objects in the UpdateEvent':
      COVERED,
    'Handler/EnqueueRequestsFromMapFunc/should enqueue a Request with the function applied to the GenericEvent': {
      skipped: 'there is no generic event: only an informer feeds a controller',
    },
    'Handler/EnqueueRequestForOwner/should enqueue a Request with the Owner of the object in the CreateEvent': COVERED,
    'Handler/EnqueueRequestForOwner/should enqueue a Request with the Owner of the object in the DeleteEvent': COVERED,
    'Handler/EnqueueRequestForOwner/should enqueue a Request with the Owners of both objects in the UpdateEvent':
      COVERED,
    'Handler/EnqueueRequestForOwner/should enqueue a Request with the one duplicate Owner of both objects in the UpdateEvent':
      COVERED,
    'Handler/EnqueueRequestForOwner/should enqueue a Request with the Owner of the object in the GenericEvent': {
      skipped: 'there is no generic event: only an informer feeds a controller',
    },
    'Handler/EnqueueRequestForOwner/should not enqueue a Request if there are no owners matching Group and Kind':
      COVERED,
    'Handler/EnqueueRequestForOwner/should enqueue a Request if there are owners matching Group and Kind with a different version':
      COVERED,
    'Handler/EnqueueRequestForOwner/should enqueue a Request for a owner that is cluster scoped': COVERED,
    'Handler/EnqueueRequestForOwner/should not enqueue a Request if there are no owners': COVERED,
    'Handler/EnqueueRequestForOwner/with the Controller field set to true/should enqueue reconcile.Requests for only the first the Controller if there are multiple Controller owners':
      COVERED,
    'Handler/EnqueueRequestForOwner/with the Controller field set to true/should not enqueue reconcile.Requests if there are no Controller owners':
      COVERED,
    'Handler/EnqueueRequestForOwner/with the Controller field set to true/should not enqueue reconcile.Requests if there are no owners':
      COVERED,
    'Handler/EnqueueRequestForOwner/with the Controller field set to false/should enqueue a reconcile.Requests for all owners':
      { skipped: 'only controllers own here: there is no match of every owner' },
    'Handler/EnqueueRequestForOwner/with a nil object/should do nothing': {
      skipped: 'an event always bears its objects: their types are not nullable',
    },
    'Handler/EnqueueRequestForOwner/with a nil OwnerType/should panic': {
      skipped: 'an event always bears its objects: their types are not nullable',
    },
    'Handler/EnqueueRequestForOwner/with an invalid APIVersion in the OwnerReference/should do nothing': COVERED,
    'Handler/Funcs/should call CreateFunc for a CreateEvent if provided': {
      skipped: "a handler is an informer's EventHandler, each of whose functions may be left out: TestAddWhileActive",
    },
    'Handler/Funcs/should NOT call CreateFunc for a CreateEvent if NOT provided': {
      skipped: "a handler is an informer's EventHandler, each of whose functions may be left out: TestAddWhileActive",
    },
    'Handler/Funcs/should call UpdateFunc for an UpdateEvent if provided': {
      skipped: "a handler is an informer's EventHandler, each of whose functions may be left out: TestAddWhileActive",
    },
    'Handler/Funcs/should NOT call UpdateFunc for an UpdateEvent if NOT provided': {
      skipped: "a handler is an informer's EventHandler, each of whose functions may be left out: TestAddWhileActive",
    },
    'Handler/Funcs/should call DeleteFunc for a DeleteEvent if provided': {
      skipped: "a handler is an informer's EventHandler, each of whose functions may be left out: TestAddWhileActive",
    },
    'Handler/Funcs/should NOT call DeleteFunc for a DeleteEvent if NOT provided': {
      skipped: "a handler is an informer's EventHandler, each of whose functions may be left out: TestAddWhileActive",
    },
    'Handler/Funcs/should call GenericFunc for a GenericEvent if provided': {
      skipped: 'there is no generic event: only an informer feeds a controller',
    },
    'Handler/Funcs/should NOT call GenericFunc for a GenericEvent if NOT provided': {
      skipped: 'there is no generic event: only an informer feeds a controller',
    },
    'Handler/WithLowPriorityWhenUnchanged/should lower the priority of a create request for an object that was part of the initial list':
      COVERED,
    'Handler/WithLowPriorityWhenUnchanged/should not lower the priority of a create request for an object that was not part of the initial list':
      COVERED,
    'Handler/WithLowPriorityWhenUnchanged/should lower the priority of an update request with unchanged RV': COVERED,
    'Handler/WithLowPriorityWhenUnchanged/should not lower the priority of an update request with changed RV': COVERED,
    'Handler/WithLowPriorityWhenUnchanged/should have no effect on create if the workqueue is not a priorityqueue': {
      skipped: 'there is one queue, and it has priorities',
    },
    'Handler/WithLowPriorityWhenUnchanged/should have no effect on Update if the workqueue is not a priorityqueue': {
      skipped: 'there is one queue, and it has priorities',
    },
  },
};
