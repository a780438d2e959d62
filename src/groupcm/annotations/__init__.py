"""What people marked in pictures: one dataclass, one file a format.

`read` finds out which format a file or folder has; `write` writes any.

============ ====================== ======================= =====================================
format       is                     carries                 is lost on writing
============ ====================== ======================= =====================================
coco         a JSON file            all regions, scores,    nothing but ids that are no whole
                                    attributes, done or to  numbers
                                    do, unknown fields
label_studio a JSON file of tasks   all regions, scores,    attributes, order of categories;
                                    done or to do           polygons of several parts → masks
labelme      a folder of JSON files all regions, attributes scores, ids, order of categories
cvat         an XML file            all regions, attributes scores, ids, to do; polygons of
                                    as text                 several parts → masks
masks        a folder of PNG files  pixels of each object,  scores, ids, attributes; all regions
             and ``masks.json``     done or to do           → masks
yolo         a folder of text files boxes, polygons of one  scores, ids, attributes, sizes of
                                    part                    pictures, to do; the rest → boxes
voc          a folder of XML files  boxes, truncated,       scores, ids, other attributes, to do;
                                    difficult, pose         all regions → boxes
csv          a CSV file             boxes, scores           ids, attributes, to do; all regions
                                                            → boxes
============ ====================== ======================= =====================================

A polygon or mask that becomes a box is counted in an `AnnotationWarning`; one that becomes a mask
keeps every pixel and is not. Where "to do" is lost, pictures to do are left out of the file
(`with_folder` brings them back), and those that hold objects all the same are written as done and
counted. No format but COCO keeps `extra`.

Reading is strict: a mistake is one sentence that names the file and the place. A box that reaches
beyond its picture is cut at the border and counted; one that lies outside altogether is refused.
Polygons keep their corners, and their masks end at the border. With ``skip_damaged`` what cannot be
read is left out and counted, and its picture is to do. Marks that are no regions (lines, points)
are left out and counted likewise.

Masks and areas of polygons are those of COCO's own tools, pixel for pixel. A mask is kept as its
runs; an array of pixels is made only where `mask` is called.

What a file may cost is bounded (`groupcm.annotations.limits`), whatever it asks for: sizes are
checked from headers before there is room made. For pictures of more than 50 million pixels and
files of more than 1 GiB, set the environment variables ``GROUPCM_MOST_PIXELS`` and
``GROUPCM_MOST_BYTES``.
"""

from groupcm.annotations.files import FORMATS, Format, read, with_folder, write
from groupcm.annotations.model import AnnotatedObject, Annotations, Picture
from groupcm.annotations.pictures import find_pictures, picture_size
from groupcm.annotations.regions import Box, Mask, Polygons, Region
from groupcm.annotations.warning import AnnotationWarning

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
    "find_pictures",
    "picture_size",
    "read",
    "with_folder",
    "write",
]
