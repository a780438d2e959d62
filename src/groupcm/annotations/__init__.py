"""Annotations of pictures: one data model, and one module per file format.

`read` detects the format of a file or folder and reads it; `write` writes any format.

============ ====================== ======================= =====================================
format       is                     carries                 is lost on writing
============ ====================== ======================= =====================================
coco         a JSON file            all regions, scores,    nothing but ids that are not whole
                                    attributes, unknown     numbers
                                    fields
label_studio a JSON file of tasks   all regions, scores     attributes, order of categories;
                                                            polygons of several parts → masks
labelme      a folder of JSON files all regions, attributes scores, ids, order of categories
cvat         an XML file            all regions, attributes scores, ids; polygons of several
                                    as text                 parts → masks
masks        a folder of PNG files  pixels of each object   scores, ids, attributes; all regions
             and ``masks.json``                             → masks
yolo         a folder of text files boxes, polygons of one  scores, ids, attributes, sizes of
                                    part                    pictures; the rest → boxes
voc          a folder of XML files  boxes, truncated,       scores, ids, other attributes;
                                    difficult, pose         all regions → boxes
csv          a CSV file             boxes, scores           ids, attributes; all regions → boxes
============ ====================== ======================= =====================================

An `AnnotationWarning` counts the polygons and masks that become boxes. A region that becomes a mask
keeps every pixel, so there is no warning. Only COCO keeps `extra`.

Each picture is in one of three states (`Picture.state`): "annotated", "verified empty" (a person
has looked and there is no object) or "to do". All formats carry all three, each in its own way:

============ ============================ ============================ ==========================
format       verified empty               to do, without objects       to do, with objects
============ ============================ ============================ ==========================
coco         ``"done": true`` in the      ``"done": false``            ``"done": false``
             image
label_studio an annotation without        a task without annotation    predictions alone
             results
labelme      a file without shapes        no file                      the flag ``to do``
cvat         the tag "verified empty"     the image is left out        the tag "to do"
masks        a mask without objects,      ``"done": false``, no mask   ``"done": false``
             ``"done": true``
yolo         an empty text file           no file                      a line in ``to_do.txt``
voc          a file without objects       no file                      ``<state>to do</state>``
csv          a line without a box, its    no line                      ``state`` is "to do"
             ``state`` "verified empty"
============ ============================ ============================ ==========================

Other programs list pictures without stating whether they were annotated: an image of COCO without
``done`` and without annotations, one of CVAT without shapes and tags, a task of Label Studio
without annotation, a line of CSV without box and state. Such pictures are to do, unless ``read(...,
unannotated="negative")`` reads them as verified empty. Files of version 0.1, which stated less,
keep their meaning; the module of each format describes how they are recognised.

Reading is strict: an error names the file and the place in it. A box that extends beyond its
picture is clipped at the border and counted; a box entirely outside is an error. Polygons keep
their corners, and their masks end at the border. With ``skip_damaged``, objects that cannot be read
are left out and counted, and their picture is to do. Lines, points and other shapes without an area
are left out and counted as well.

Masks and areas of polygons equal those of COCO's own tools, pixel for pixel. A mask is stored as
run lengths; only `mask` creates an array of pixels.

The memory and time that reading a file can take are bounded (`groupcm.annotations.limits`): sizes
are checked from headers before memory is allocated. For pictures of more than 50 million pixels and
files of more than 1 GiB, set the environment variables ``GROUPCM_MOST_PIXELS`` and
``GROUPCM_MOST_BYTES``.
"""

from groupcm.annotations.files import FORMATS, Format, read, with_folder, write
from groupcm.annotations.model import AnnotatedObject, Annotations, Picture, State, StateCounts
from groupcm.annotations.pictures import find_pictures, picture_size
from groupcm.annotations.reading import AnnotationWarning
from groupcm.annotations.regions import Box, Mask, Polygons, Region

__all__ = [
    "FORMATS",
    "AnnotatedObject",
    "AnnotationWarning",
    "Annotations",
    "Box",
    "Format",
    "Mask",
    "Picture",
    "Polygons",
    "Region",
    "State",
    "StateCounts",
    "find_pictures",
    "picture_size",
    "read",
    "with_folder",
    "write",
]
